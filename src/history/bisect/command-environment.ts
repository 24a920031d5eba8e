import { dirname } from 'node:path'

/** What would lead git to another repository, say who an agent is, or belongs to the shell that this was typed in. */
const NOT_PASSED_ON =
  /^(GIT_(ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|NAMESPACE)|SKEIN_(AGENT|ROLE|SESSION|ACTOR|RUN)|TMUX|TMUX_PANE|OLDPWD|_|NODE_CHANNEL_FD)$/

/** The user's environment for a command in a worktree of ours. Above that worktree git looks for no repository. */
export const commandEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  worktree: string,
): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_PASSED_ON.test(name))),
  GIT_CEILING_DIRECTORIES: dirname(worktree),
})
