-- Feedback on spans that name no prompt, and links to review chosen spans.
ALTER TABLE feedback ALTER COLUMN prompt_id DROP NOT NULL;

CREATE INDEX feedback_of_no_prompt ON feedback (project_id, created_at, id) WHERE prompt_id IS NULL;

ALTER TABLE feedback_links ALTER COLUMN prompt_id DROP NOT NULL; -- null: the link is for `spans`
ALTER TABLE feedback_links ADD COLUMN spans TEXT; -- JSON array of the ids of the spans that are reviewed; null: completions of the prompt
