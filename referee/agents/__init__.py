"""One role per file: a prompt, a reply model, and one async function that knows nothing of LangGraph."""
