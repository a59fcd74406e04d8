"""The one door to bibliographic services and offline indexes: whether a cited work is listed, and as what."""
