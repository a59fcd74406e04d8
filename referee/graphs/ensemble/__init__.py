"""Independent reviews, merged by an area chair, then rounds of reflection."""
