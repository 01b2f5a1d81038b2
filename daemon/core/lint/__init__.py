"""What admission accepts and what fails when it is used: warnings of `syncret validate`."""
