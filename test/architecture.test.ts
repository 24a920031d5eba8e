import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LAYERS } from './support/layers.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(ROOT, 'docs', 'ARCHITECTURE.md'), 'utf8')
const sectionOf = (heading: string): string => page.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''

describe('the map in docs/ARCHITECTURE.md', () => {
  const map = /^```\n(.*?)^```$/ms.exec(sectionOf('The map'))?.[1] ?? ''
  const rooms = [...map.matchAll(/^ (\S+)/gm)].map(([, room = '']) => room)
  const planned = [...map.matchAll(/^ {3}(.+?) {2,}\(planned\)/gm)].flatMap(([, names = '']) => names.split(/\s+/))

  it('has every room of src, and says which are planned', () => {
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect([...rooms].sort()).toEqual(folders.map(({ name }) => name).sort())
    expect(planned.filter((room) => rooms.includes(room))).toEqual([])
    expect([...rooms, ...planned].sort()).toEqual(LAYERS.flat().sort())
  })

  it('draws them in the order of the layers, top first', () => {
    const level = (room: string): number => LAYERS.findIndex((layer) => layer.includes(room))
    const drawn = rooms.map(level)
    expect(drawn).toEqual([...drawn].sort((a, b) => b - a))
  })
})

describe('the walks in docs/ARCHITECTURE.md', () => {
  const walks = sectionOf('Four walks')
    .split(/^### /m)
    .slice(1)
    .map((walk) => {
      const steps = walk.match(/^\d+\. .*$/gm) ?? []
      return { title: walk.split('\n')[0] ?? '', steps: steps.map((step) => /^\d+\. `(.+?)` `(.+?)`/.exec(step)) }
    })

  it('are four', () => expect(walks).toHaveLength(4))

  it.each(walks)('lead through files that have what they name: $title', ({ steps }) => {
    expect(steps.length).toBeGreaterThan(5)
    const wrong = steps.filter((step) => {
      const [, file = '', name = ''] = step ?? []
      return !existsSync(join(ROOT, file)) || !declares(readFileSync(join(ROOT, file), 'utf8'), name)
    })
    expect(wrong.map((step) => step?.[0] ?? 'a step without a file and a name')).toEqual([])
  })
})

/** Whether the source exports this, or has a class with a method of this name. */
function declares(source: string, name: string): boolean {
  const exported = new RegExp(`^export (?:async )?(?:function\\*?|class|const) ${name}\\b`, 'm')
  const method = new RegExp(`^ {2}(?:async )?\\*?${name}[<(]`, 'm')
  return exported.test(source) || method.test(source)
}
