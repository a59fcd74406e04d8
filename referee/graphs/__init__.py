"""LangGraph machines. State is plain data; a node returns only what it changed and records failures."""
