"""Long work beside the window: jobs, processes, the session, the notebook."""
