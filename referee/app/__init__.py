"""The app in the browser: uploads, estimates, live progress, pages of run folders. It keeps no state of its own."""
