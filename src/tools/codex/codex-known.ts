/** Events that say nothing that an item or a task does not say better. */
export const QUIET_EVENTS = new Set(
  (
    'thread_settings_applied agent_message agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break ' +
    'exec_command_begin exec_command_end exec_command_output_delta mcp_tool_call_begin mcp_tool_call_end patch_apply_begin ' +
    'patch_apply_end turn_diff turn_started plan_update context_compacted web_search_begin web_search_end view_image_tool_call ' +
    'background_event stream_error warning undo_completed entered_review_mode exited_review_mode ' +
    'item_started sub_agent_activity thread_name_updated deprecation_notice thread_goal_updated guardian_assessment'
  ).split(' '),
)

/** Items that are no message and no call. */
export const QUIET_ITEMS = new Set([
  'reasoning',
  'ghost_snapshot',
  'compaction',
  'tool_search_output',
  'compaction_summary',
  'context_compaction',
  'other',
])

/** Items that are a tool call's end. */
export const RUNS = new Set(['CommandExecution', 'FileChange', 'McpToolCall'])
