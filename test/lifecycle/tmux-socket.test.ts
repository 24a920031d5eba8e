import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { socketOfHome, tmuxSocket } from '../../src/lifecycle/index.js'
import { scratch } from '../home/scratch.js'

const userId = process.geteuid?.()

it('a home that was chosen has a tmux server of its own, all others share one', () => {
  const root = scratch()
  expect(socketOfHome({ ownRoot: undefined, temporary: root, userId })).toEqual({ name: 'skein' })
  expect(socketOfHome({ ownRoot: root, temporary: root, userId })).toEqual({ path: join(root, 'tmux.sock') })
})

it('a path that is too long for a socket is replaced by a short one that only its user can reach', () => {
  const temporary = scratch()
  const [one, other] = ['a', 'b'].map((end) =>
    socketOfHome({ ownRoot: `/${'long/'.repeat(30)}${end}`, temporary, userId }),
  )
  expect(one).not.toEqual(other)
  const path = one && 'path' in one ? one.path : ''
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107)
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
})

it('a directory that others can use is not taken', () => {
  const temporary = scratch()
  const shared = join(temporary, `skein-${userId}`)
  mkdirSync(shared)
  chmodSync(shared, 0o777)
  const open = () => socketOfHome({ ownRoot: `/${'long/'.repeat(30)}`, temporary, userId })
  expect(open).toThrow(/is not a directory that only you can use/)
})

it('the configuration names a server by name or by path', () => {
  const facts = { ownRoot: '/somewhere', temporary: '/tmp', userId }
  expect(tmuxSocket({ tmux: { socket: 'mine' } }, 'config.toml', facts)).toEqual({ name: 'mine' })
  expect(tmuxSocket({ tmux: { socket: '/run/x.sock' } }, 'config.toml', facts)).toEqual({ path: '/run/x.sock' })
  expect(() => tmuxSocket({ tmux: { socket: 3 } }, 'config.toml', facts)).toThrow(/tmux.socket in config.toml is 3/)
})
