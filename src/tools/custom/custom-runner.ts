import { basename, join } from 'node:path'
import { checkPrompt } from '../log/check-text.js'
import { type Launch, type Preparation, SESSION_PLACEHOLDER, type ToolRunner } from '../run/tool-runner.js'
import { readScreenBy, readTitleBy } from '../screen/read-screen.js'
import type { PromptKeys, ScreenRule, ScreenRules } from '../screen/rules.js'
import type { CustomTool, TextPattern } from './custom-tool.js'
import { readEnvFile } from './env-file.js'

const ICON = '◆'

/** A runner for a tool from the configuration: by its own description, or as another tool under a different command. */
export function customRunner(
  tool: CustomTool,
  base: ToolRunner | undefined,
  baseRules: ScreenRules | undefined,
): ToolRunner {
  const rules = rulesOf(tool, baseRules)
  const own = {
    name: tool.name,
    icon: tool.icon ?? base?.icon ?? ICON,
    readScreen: (screen: Parameters<ToolRunner['readScreen']>[0]) => readScreenBy(rules, screen),
    readTitle: (title: string) => readTitleBy(rules, title),
    ...(tool.session_id_env ? { sessionVariable: tool.session_id_env } : {}),
    isProcess: (name: string) => basename(name) === basename(tool.command[0]) || base?.isProcess(name) === true,
  }
  if (base)
    return {
      ...base,
      ...own,
      prepare: (launch) => withCommand(tool, base.prepare(asConfigured(tool, withoutCommand(launch))), launch),
    }
  const canResume = tool.resume_flag !== undefined
  return {
    ...own,
    can: {
      // A program that can only be told its id, and cannot resume, has the one that Skein made for this run.
      chooseId: tool.output_format_flag ? 'capture' : tool.session_id_env && !canResume ? 'flag' : 'never',
      resume: canResume,
      fork: false,
      tells: false,
      asks: tool.prompt_patterns.length > 0,
      choosesModel: false,
      mcp: false,
    },
    prepare: (launch) => prepare(tool, launch),
    readMessage: () => undefined,
    // What an unknown program does with these signs is unknown; those that most take as commands are refused.
    checkText: (text) =>
      checkPrompt(tool.name, text, {
        signs: [
          { sign: '/', does: 'perhaps run a command of its own' },
          { sign: '!', does: 'perhaps run it in a shell' },
        ],
      }),
    keys: { interrupt: ['Escape'], clear: ['C-u'], quit: ['C-c', 'C-c'] },
    ...(baseRules || tool.idle_patterns.length + tool.detect_patterns.length > 0 ? {} : { isIdleWhenQuiet: true }),
  }
}

/** The rules that come from the configuration, before those of the tool it is like. A screen that shows a detect pattern is its own. */
export function rulesOf(tool: CustomTool, base: ScreenRules | undefined): ScreenRules {
  const asRules = (
    key: string,
    patterns: readonly TextPattern[],
    rule: Omit<ScreenRule, 'id' | 'match' | 'not'>,
  ): ScreenRule[] => patterns.map((pattern, at) => ({ ...rule, id: `${key}[${at}]`, match: [pattern.finds], not: [] }))
  const keys = keysOf(tool)
  return {
    ...(base ?? { version: 1, recorded_from: [], meanings: [], titles: [] }),
    tool: tool.name,
    source: base ? `${tool.source} and ${base.source}` : tool.source,
    rules: [
      ...asRules('prompt_patterns', tool.prompt_patterns, {
        region: 'bottom',
        lines: keys ? 1 : 8,
        status: 'waiting',
        waiting_for: 'permission',
        reason: 'matches one of its prompt patterns',
        ...(keys ? { keys } : {}),
      }),
      ...asRules('busy_patterns', tool.busy_patterns, {
        region: 'bottom',
        lines: 15,
        status: 'running',
        reason: 'matches one of its busy patterns',
      }),
      ...asRules('idle_patterns', tool.idle_patterns, {
        region: 'bottom',
        lines: 8,
        status: 'idle',
        reason: 'matches one of its idle patterns',
      }),
      ...(base?.rules ?? []),
      ...asRules('detect_patterns', tool.detect_patterns, {
        region: 'screen',
        lines: 1,
        status: 'idle',
        reason: 'matches its detect patterns and no busy or prompt pattern',
      }),
    ],
  }
}

function keysOf({ approve_keys: allow, deny_keys: deny }: CustomTool): PromptKeys | undefined {
  if (!allow && !deny) return undefined
  return { ...(allow ? { allow } : {}), ...(deny ? { deny } : {}) }
}

const asConfigured = (tool: CustomTool, launch: Launch): Launch =>
  tool.dangerous_mode && launch.dangerous === undefined ? { ...launch, dangerous: true } : launch

/** The words that stand for the tool it is like: they are put in its place afterwards. */
function withoutCommand({ command: _command, ...launch }: Launch): Launch {
  return launch
}

/** The same start with another program, and this tool's variables on top. */
function withCommand(tool: CustomTool, prepared: Preparation, launch: Launch): Preparation {
  const [, ...rest] = prepared.argv
  const flag = tool.dangerous_flag && asConfigured(tool, launch).dangerous ? tool.dangerous_flag : []
  return {
    ...prepared,
    argv: [...(launch.command ?? tool.command), ...rest, ...flag],
    env: { ...prepared.env, ...variablesOf(tool, launch), ...idVariable(tool, prepared.session) },
  }
}

const idVariable = ({ session_id_env: name }: CustomTool, session: string | undefined): Record<string, string> =>
  name && session ? { [name]: session } : {}

function prepare(tool: CustomTool, launch: Launch): Preparation {
  const dangerous = tool.dangerous_flag && asConfigured(tool, launch).dangerous ? tool.dangerous_flag : []
  const after = [...dangerous, ...(launch.args ?? [])]
  const { session, command = tool.command } = launch
  const isResume = launch.kind === 'resume' && session !== undefined && tool.resume_flag !== undefined
  const isTold = isResume || (session !== undefined && tool.resume_flag === undefined)
  const idEnv = isTold ? idVariable(tool, session) : {}
  const common = { env: { ...variablesOf(tool, launch), ...idEnv }, files: [] }
  if (isResume) return { ...common, argv: [...command, ...(tool.resume_flag ?? []), session, ...after], session }
  const argv: Preparation['argv'] = [...command, ...after]
  if (!tool.output_format_flag || !tool.session_id_json_path || !tool.resume_flag)
    return { ...common, argv, ...(isTold && tool.session_id_env ? { session } : {}) }
  return {
    ...common,
    argv,
    capture: {
      // The smallest prompt there is: the program makes a conversation only when it is asked something.
      argv: [...command, ...tool.output_format_flag, '.'],
      jsonPath: tool.session_id_json_path,
      resume: [...command, ...tool.resume_flag, SESSION_PLACEHOLDER, ...after],
      ...(tool.session_id_env ? { env: tool.session_id_env } : {}),
    },
  }
}

function variablesOf(tool: CustomTool, { environment }: Launch): Record<string, string> {
  const file = tool.env_file?.startsWith('~/') ? join(environment.home, tool.env_file.slice(2)) : tool.env_file
  return { ...(file ? readEnvFile(file, `tools.${tool.name}.env_file`) : {}), ...tool.env }
}
