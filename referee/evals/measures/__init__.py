"""Numbers of one review that need no model: what PRAIB measures of how reviewers write and rate."""
