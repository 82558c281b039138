"""Routes and pages for annotators and requesters; wiring only."""
