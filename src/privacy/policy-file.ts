import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { explainDiskError, readGuarded, refuseDead, UnsuitableFile } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { BUILT_IN, type Policy, type PolicyLayer } from './policy.js'
import { type CallTiers, isTier, TIERS, type Tier } from './tier.js'

/** Where a project keeps its policy. Both are read; the second is the name under which projects know it from Gas Town. */
export const PROJECT_FILES: readonly string[] = [join('.skein', 'privacy.yaml'), join('.gastown', 'privacy.yaml')]

/** Projects come from anywhere, and their policies are read by every ingest. */
const LARGEST_BYTES = 64 * 1024

/** What a policy file says. */
interface PolicyFile extends PolicyLayer {
  readonly allowProjectLooser: boolean
}

export interface PolicyPlaces {
  /** The user's own file, which need not exist. */
  userFile: string
  /** The directory of the work. Its policy and those of the directories above it count. */
  directory: string
  /** What a policy file said, of whose directory nothing is left. */
  recall?: (path: string) => string | undefined
}

/** The policy that holds in a directory. A file that cannot be understood is an error: what it wanted hidden is not known. */
export async function loadPolicy({ userFile, directory, recall }: PolicyPlaces): Promise<Policy> {
  const users = isNamed(userFile) ? await readPolicy(userFile) : undefined
  const projects: PolicyFile[] = []
  for (const { path, text } of projectFiles(directory, recall)) {
    projects.push(text === undefined ? await readPolicy(path) : await parsePolicy(text, path))
  }
  return {
    user: users ? [users, BUILT_IN] : [BUILT_IN],
    projects,
    allowProjectLooser: users?.allowProjectLooser ?? false,
  }
}

/** Files of the directory and of those above it, the outermost first. */
function projectFiles(
  directory: string,
  recall: PolicyPlaces['recall'],
): { path: string; text?: string | undefined }[] {
  const isGone = recall !== undefined && !isNamed(directory)
  const here = PROJECT_FILES.map((name) => join(directory, name)).flatMap((path) => {
    if (isNamed(path)) return [{ path }]
    const text = isGone ? recall(path) : undefined
    return text === undefined ? [] : [{ path, text }]
  })
  const above = dirname(directory)
  return above === directory ? here : [...projectFiles(above, recall), ...here]
}

/** The last two are names that no file can have; what a log says of its directory may be anything. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'])

/** Whether there is a file of this name, be it one that cannot be read or a link that leads nowhere: only what is not there says nothing. */
function isNamed(path: string): boolean {
  try {
    refuseDead(path)
    lstatSync(path)
    return true
  } catch (error) {
    return !NOT_THERE.has(String((error as NodeJS.ErrnoException).code))
  }
}

async function readPolicy(path: string): Promise<PolicyFile> {
  let content: string
  try {
    content = readGuarded(path, { mostBytes: LARGEST_BYTES }).toString('utf8')
  } catch (error) {
    if (error instanceof UnsuitableFile) throw unreadable(path, `is ${error.code}`)
    if (/^(?:ENOENT|ELOOP)$/.test(String((error as NodeJS.ErrnoException).code)))
      throw unreadable(path, 'is a dangling link')
    throw explainDiskError(error, path)
  }
  return parsePolicy(content, path)
}

const unreadable = (path: string, what: string): SkeinError =>
  new SkeinError('bad-config', `The privacy policy ${path} ${what}`, 'Replace it with a policy, or remove it')

type Yaml = typeof import('yaml')

/** Reads a policy file's text; `source` names it in errors. */
export async function parsePolicy(content: string, source: string): Promise<PolicyFile> {
  return new PolicyReader(await import('yaml'), content, source).read() // most commands never read a policy
}

/** Turns the text of one policy file into a policy. Every complaint names the line. */
class PolicyReader {
  readonly #lines: InstanceType<Yaml['LineCounter']>

  constructor(
    private readonly yaml: Yaml,
    private readonly content: string,
    private readonly source: string,
  ) {
    this.#lines = new yaml.LineCounter()
  }

  read(): PolicyFile {
    const { isMap, isScalar, parseDocument } = this.yaml
    const document = parseDocument(this.content, { lineCounter: this.#lines })
    const broken = document.errors[0]
    if (broken) throw this.#wrong(broken.pos[0], messageOf(broken), 'Correct that line, then try again')
    const policy: { -readonly [Field in keyof PolicyFile]: PolicyFile[Field] } = {
      source: this.source,
      tools: {},
      allowProjectLooser: false,
    }
    const root = document.contents
    if (root === null) return policy
    if (!isMap(root)) throw this.#wrong(0, 'a policy is a map of names and values', EXAMPLE)
    for (const { key, value } of root.items) {
      const at = offsetOf(key)
      const name = isScalar(key) ? String(key.value) : ''
      if (name === 'allow_project_looser') policy.allowProjectLooser = this.#looser(value, at)
      else if (name === 'tool_privacy') policy.tools = this.#tools(value, at)
      else {
        const what = `"${name}" is not a setting of a privacy policy`
        throw this.#wrong(at, what, 'There are: tool_privacy, allow_project_looser')
      }
    }
    return policy
  }

  #looser(value: unknown, at: number): boolean {
    const { isScalar } = this.yaml
    if (isScalar(value) && typeof value.value === 'boolean') return value.value
    throw this.#wrong(at, 'allow_project_looser is not true or false', 'Write: allow_project_looser: false')
  }

  #tools(value: unknown, at: number): Record<string, CallTiers> {
    const { isMap, isScalar } = this.yaml
    const tools: Record<string, CallTiers> = {}
    if (isScalar(value) && value.value === null) return tools
    if (!isMap(value)) throw this.#wrong(at, 'tool_privacy is not a map of tools and tiers', EXAMPLE)
    for (const entry of value.items) {
      const where = offsetOf(entry.key)
      const tool = isScalar(entry.key) ? String(entry.key.value) : ''
      if (tool === '') throw this.#wrong(where, 'a tool has no name', EXAMPLE)
      if (/[?[\]{}]/.test(tool))
        throw this.#wrong(where, `${JSON.stringify(tool)} matches no tool`, 'In a glob only * is special')
      tools[tool] = this.#tiers(tool, entry.value, where)
    }
    return tools
  }

  #tiers(tool: string, value: unknown, at: number): CallTiers {
    const { isMap, isScalar } = this.yaml
    if (isScalar(value)) {
      const tier = this.#tier(tool, value.value, at)
      return { arguments: tier, result: tier }
    }
    if (!isMap(value)) throw this.#wrong(at, `${tool} has no tier`, `Choose one of ${TIERS.join(', ')}`)
    const halves = new Map(value.items.map((item) => [isScalar(item.key) ? String(item.key.value) : '', item]))
    const odd = [...halves.keys()].find((half) => half !== 'arguments' && half !== 'result')
    if (odd !== undefined)
      throw this.#wrong(at, `"${odd}" is not a part of a call of ${tool}`, 'There are: arguments, result')
    const half = (name: 'arguments' | 'result'): Tier => {
      const item = halves.get(name)
      const given = isScalar(item?.value) ? item.value.value : undefined
      return this.#tier(`${tool}.${name}`, given, offsetOf(item?.key, at))
    }
    return { arguments: half('arguments'), result: half('result') }
  }

  #tier(tool: string, value: unknown, at: number): Tier {
    if (isTier(value)) return value
    const what = `${tool} is ${JSON.stringify(value) ?? 'not given'}, which is not a tier`
    throw this.#wrong(at, what, `Choose one of ${TIERS.join(', ')}`)
  }

  #wrong(offset: number, what: string, next: string): SkeinError {
    return new SkeinError('bad-config', `${this.source}:${this.#lines.linePos(offset).line}: ${what}`, next)
  }
}

/** Two of the parser's messages are for programmers. */
function messageOf({ code, message }: { code: string; message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'a policy is one document'
  const [line = 'not YAML'] = message.split('\n')
  return line.includes('call stack') ? 'it is nested too deeply' : line.replace(/ at line.*/, '')
}

const EXAMPLE = 'Write it like:  tool_privacy: { Bash: none, "mcp__db__*": metadata }'

function offsetOf(node: unknown, otherwise = 0): number {
  const range = (node as { range?: [number, number, number] | null } | undefined)?.range
  return range?.[0] ?? otherwise
}
