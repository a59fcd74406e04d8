def report(kept, base):
    return ""
