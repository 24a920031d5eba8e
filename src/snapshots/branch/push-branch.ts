import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { guardedText, temporaryName } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { makeBorrower } from '../borrower.js'
import type { CaptureSetting } from '../capture.js'
import { type Git, GitStopped } from '../git.js'
import { findReadable } from '../readable-repository.js'
import type { Repository } from '../repository.js'
import { keyOf } from '../snapshot.js'
import { userConfig } from '../user-config.js'
import { stateDirectory } from '../worktree-state.js'

export interface PushRequest {
  /** Any directory of the repository. */
  directory: string
  branch: string
  remote: string
  /** What git's transports need of the user's environment: HOME, PATH, proxies, the agent of ssh. */
  env: Readonly<Record<string, string | undefined>>
  limitMs: number
}

/**
 * `pushed`: the remote has it. `rejected`: the remote has other commits on the branch, or does not want it. `refused`: we do not push there.
 * `failed`: it may work later.
 */
export interface PushEnd {
  outcome: 'pushed' | 'rejected' | 'refused' | 'failed'
  commit?: string
  reason?: string
}

/** Of the user's environment, what a transport needs. */
const PASSED =
  /^(HOME|XDG_CONFIG_HOME|SSH_AUTH_SOCK|SSH_AGENT_PID|(https?|all|no)_proxy|SSL_CERT_(FILE|DIR)|USER|LOGNAME)$/i

/**
 * Pushes a branch from a repository of ours that borrows the objects, so that the repository's own configuration names nothing that runs: no hook, no
 * program for ssh, no credential helper, no remote helper. The user's own configuration (~/.gitconfig) does. Never forces.
 */
export async function pushBranch(setting: PushSetting, request: PushRequest): Promise<PushEnd> {
  try {
    return await tryPush(setting, request)
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return { outcome: 'failed', reason: error.message }
  }
}

type PushSetting = Pick<CaptureSetting, 'snapshots' | 'git' | 'home'>

async function tryPush(setting: PushSetting, request: PushRequest): Promise<PushEnd> {
  const { git, home, snapshots } = setting
  const { directory, branch, remote, limitMs } = request
  const repository = findReadable(directory)
  const store = repository && BareStore.named(snapshots, keyOf(repository.commonDirectory), git)
  if (!repository || !store) return { outcome: 'refused', reason: `${directory} has no repository with snapshots` }
  const at = ['--git-dir', repository.commonDirectory]
  const commit = await git.text([...at, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], {
    accept: [1, 128],
  })
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return { outcome: 'refused', reason: `There is no branch ${branch}` }
  const target = await targetOf(git, repository, home, remote)
  if ('reason' in target) return { outcome: 'refused', reason: target.reason }
  const own = temporaryName(join(stateDirectory(store.directory), 'push'))
  try {
    makeBorrower(own, store, 'ref: refs/heads/none', { bare: true })
    const shallow = guardedText(join(repository.commonDirectory, 'shallow'), 1_000_000)
    if (shallow !== undefined) writeFileSync(join(own, 'shallow'), shallow)
    // In a file: an address may hold a password, which must be on no command line of ours.
    writeFileSync(
      join(own, 'config'),
      `${guardedText(join(own, 'config'), 64_000) ?? ''}${remoteSection(target.url)}`,
      {
        mode: 0o600,
      },
    )
    const end = await push(git, own, { commit, branch, isLocal: target.isLocal, env: request.env, limitMs })
    return { ...end, commit }
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

const NAME = 'target'
const remoteSection = (url: string): string => `[remote "${NAME}"]\n\turl = "${url.replace(/["\\]/g, '\\$&')}"\n`

interface Push {
  commit: string
  branch: string
  isLocal: boolean
  env: Readonly<Record<string, string | undefined>>
  limitMs: number
}

async function push(git: Git, own: string, { commit, branch, isLocal, env, limitMs }: Push): Promise<PushEnd> {
  const passed = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => PASSED.test(name) && value !== undefined),
  )
  const sshCommand = await git.text(['config', '--global', '--get', 'core.sshCommand'], {
    env: { ...passed, GIT_CONFIG_GLOBAL: undefined },
    accept: [1],
  })
  const variables = {
    ...passed,
    GIT_CONFIG_GLOBAL: undefined,
    GIT_CONFIG_NOSYSTEM: undefined,
    GIT_CONFIG_SYSTEM: undefined,
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:git:file',
    // Nobody is there to answer.
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: undefined,
    ...(sshCommand === '' ? { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=20' } : {}),
  }
  const options = ['--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no', '--porcelain']
  const receiver = isLocal ? [`--receive-pack=${LOCAL_RECEIVER}`] : []
  const args = ['--git-dir', own, 'push', ...options, ...receiver, NAME, `${commit}:refs/heads/${branch}`]
  try {
    const signal = AbortSignal.timeout(limitMs)
    const { code, stdout, stderr } = await git.run(args, { env: variables, signal, accept: ANY_CODE, cwd: tmpdir() })
    if (code === 0) return { outcome: 'pushed' }
    const isRejected = /^!\t/m.test(stdout.toString())
    return { outcome: isRejected ? 'rejected' : 'failed', reason: reasonOf(`${stdout.toString()}\n${stderr}`) }
  } catch (error) {
    if (error instanceof GitStopped) return { outcome: 'failed', reason: `no answer within ${limitMs / 1000} s` }
    throw error
  }
}

const ANY_CODE = Array.from({ length: 255 }, (_, n) => n + 1)
/** In a repository of this machine git runs the receiving side, too: without its hooks and whatever else its configuration names. */
const LOCAL_RECEIVER =
  'git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c receive.autogc=false -c gc.auto=0 -c core.alternateRefsCommand=: -c receive.denyCurrentBranch=refuse receive-pack'

/** The line that says why, without what an address may hold of a password. */
function reasonOf(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const line =
    lines.find((one) => one.startsWith('!')) ??
    lines.find((one) => /^(fatal|error|ssh):/.test(one)) ??
    lines.at(-1) ??
    ''
  return line
    .replace(/^!\s*/, '')
    .replace(/\/\/[^/@\s]*@/g, '//')
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 300)
}

/** Where to push, by the repository's configuration. What it names beside an address is not run: then we do not push at all. */
async function targetOf(
  git: Git,
  repository: Repository,
  home: string | undefined,
  remote: string,
): Promise<{ url: string; isLocal: boolean } | { reason: string }> {
  const config = await userConfig(repository, home, git)
  const user = home === undefined ? new Map<string, string>() : await globalConfig(git, home)
  const key = (name: string): string => `remote.${remote}.${name}`
  const named = [key('receivepack'), key('vcs'), 'core.sshcommand', 'core.gitproxy'].find(
    (name) => config.has(name) && config.get(name) !== user.get(name),
  )
  if (named !== undefined)
    return { reason: `the repository's configuration has ${named}, which is not run; set it in ~/.gitconfig` }
  const value = config.get(key('pushurl')) ?? config.get(key('url'))
  if (value === undefined) return { reason: `there is no remote named ${remote}` }
  const url = Buffer.from(value, 'latin1').toString()
  if (/[\p{Cc}]/u.test(url) || url.startsWith('-')) return { reason: `the address of ${remote} is not one` }
  if (/^(https?|ssh|git|git\+ssh|ssh\+git):\/\//i.test(url)) return { url, isLocal: false }
  if (/^file:\/\//i.test(url)) return { url, isLocal: true }
  if (/^[a-z0-9+.-]+::/i.test(url) || /^[a-z0-9+.-]+:\/\//i.test(url))
    return { reason: `the address of ${remote} needs a helper program, which is not run` }
  // As git tells them apart: a colon before the first slash is a host.
  if (/^[^/]*:/.test(url)) return { url, isLocal: false }
  return { url: isAbsolute(url) ? url : resolve(homeOf(repository), url), isLocal: true }
}

/** The worktree that the configuration was written in: git itself takes a relative address from whichever worktree it is run in. */
const homeOf = ({ commonDirectory, root }: Repository): string =>
  commonDirectory.endsWith('/.git') ? dirname(commonDirectory) : root

async function globalConfig(git: Git, home: string): Promise<Map<string, string>> {
  const { code, stdout } = await git.run(['config', '--global', '--list', '-z'], {
    env: { HOME: home, GIT_CONFIG_GLOBAL: undefined },
    accept: [1, 128],
  })
  if (code !== 0) return new Map()
  const fields = stdout.toString('latin1').split('\0')
  return new Map(fields.map((field) => [field.split('\n', 1)[0] ?? '', field.slice(field.indexOf('\n') + 1)]))
}
