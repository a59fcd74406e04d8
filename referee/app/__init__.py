"""The local browser app: pages of run folders, uploads, live progress; no state of its own."""
