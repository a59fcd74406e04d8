"""The machine that examines what a review says about its paper, and the arithmetic on what it stores."""
