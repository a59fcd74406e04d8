"""One file a layout: how its records are found in a file and what each means."""
