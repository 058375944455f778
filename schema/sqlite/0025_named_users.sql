-- Before a user, or a prompt, goes, SQLite looks in every table that names it: without these, it reads those tables whole.
CREATE INDEX api_keys_by_user ON api_keys (user_id, project_id, revoked_at);
CREATE INDEX prompt_versions_by_user ON prompt_versions (created_by);
CREATE INDEX prompt_tag_pins_by_user ON prompt_tag_pins (pinned_by);
CREATE INDEX judges_by_user ON judges (created_by);
CREATE INDEX feedback_by_user ON feedback (user_id);
CREATE INDEX feedback_links_by_user ON feedback_links (created_by);
CREATE INDEX feedback_links_by_prompt ON feedback_links (prompt_id);
CREATE INDEX jobs_by_user ON jobs (created_by);
CREATE INDEX promotions_by_user ON promotions (promoted_by);

-- Keys that count, and those that are forgotten some day, apart: there may be many of the latter.
CREATE INDEX api_keys_standing ON api_keys (project_id, created_at, id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_revoked ON api_keys (revoked_at, id) WHERE revoked_at IS NOT NULL;
