import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeDirectory } from '../../src/disk/index.js'
import { scratch } from '../home/scratch.js'

describe('a directory of ours', () => {
  it('is made with all that is missing above it, for its user alone', () => {
    const root = scratch()
    makeDirectory(join(root, 'a', 'b', 'c'))
    for (const made of ['a', 'a/b', 'a/b/c']) expect(statSync(join(root, made)).mode & 0o777).toBe(0o700)
  })

  it('may be there already, also behind a link', () => {
    const root = scratch()
    makeDirectory(join(root, 'real'))
    symlinkSync(join(root, 'real'), join(root, 'link'))
    makeDirectory(join(root, 'link'))
    makeDirectory(join(root, 'link', 'inside'))
    expect(existsSync(join(root, 'real', 'inside'))).toBe(true)
  })

  it('is not made through a file or a dangling link', () => {
    const root = scratch()
    writeFileSync(join(root, 'file'), '')
    symlinkSync(join(root, 'gone'), join(root, 'dangling'))
    expect(() => makeDirectory(join(root, 'file'))).toThrow('EEXIST')
    expect(() => makeDirectory(join(root, 'file', 'x', 'y'))).toThrow('ENOTDIR')
    expect(() => makeDirectory(join(root, 'dangling'))).toThrow('EEXIST')
    expect(() => makeDirectory(join(root, 'dangling', 'x'))).toThrow('EEXIST')
  })

  it.runIf(existsSync('/proc/self'))('is refused at once where the system makes none', () => {
    expect(() => makeDirectory('/proc/skein/profiles/default')).toThrow('ENOENT')
    expect(() => makeDirectory('/proc/self/skein')).toThrow('ENOENT')
  })
})
