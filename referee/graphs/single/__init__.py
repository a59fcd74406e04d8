"""One call fills the whole form."""
