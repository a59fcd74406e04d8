"""The strategy ``sections``: readers raise points, code looks them up, a blind check tests them, all are printed."""
