// Empty: a package with assembly may declare functions without a body.
