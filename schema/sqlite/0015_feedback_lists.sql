-- The feedback on a prompt, by when it was given: it holds what lists filter by, so that rows are read for a page alone.
CREATE INDEX feedback_of_prompt ON feedback (prompt_id, created_at, id, thumbs_up, judge_id, user_id, completion_id);

-- Whose feedback is asked for by name.
CREATE INDEX users_by_name ON users (name);
