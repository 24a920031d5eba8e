import type { Scene } from './script.js'

/** Where a replay stands. */
export interface Playback {
  /** Place of the turn in the script. */
  scene: number
  /** How far into the turn, in its own time. */
  atMs: number
  speed: number
  isPaused: boolean
  isQuit: boolean
}

export type PlaybackKey = 'pause' | 'step' | 'next' | 'previous' | 'faster' | 'slower' | 'quit'

/** Ctrl-C and Ctrl-D arrive as characters while the terminal passes on every key. */
export const KEYS: Readonly<Record<string, PlaybackKey>> = {
  ' ': 'pause',
  s: 'step',
  '\r': 'step',
  n: 'next',
  p: 'previous',
  '+': 'faster',
  '=': 'faster',
  '-': 'slower',
  q: 'quit',
  '\x03': 'quit',
  '\x04': 'quit',
}

export const SLOWEST = 1 / 8
export const FASTEST = 64
/** Between the end of a turn and the next one, so that its last words can be read. */
const REST_MS = 1_500

export const playbackFrom = (scene: number, speed: number): Playback => ({
  scene,
  atMs: 0,
  speed: within(speed, SLOWEST, FASTEST),
  isPaused: false,
  isQuit: false,
})

/** After some time has passed. A turn that is over makes way for the next; the last one stays. */
export function advance(playback: Playback, script: readonly Scene[], elapsedMs: number): Playback {
  if (playback.isPaused || playback.isQuit) return playback
  let { scene } = playback
  let atMs = playback.atMs + elapsedMs * playback.speed
  for (let length = lengthOf(script, scene); atMs >= length + REST_MS && scene < script.length - 1; ) {
    atMs -= length + REST_MS
    scene += 1
    length = lengthOf(script, scene)
  }
  if (scene === script.length - 1) atMs = Math.min(atMs, lengthOf(script, scene))
  return { ...playback, scene, atMs }
}

export function press(playback: Playback, script: readonly Scene[], key: PlaybackKey): Playback {
  const last = script.length - 1
  switch (key) {
    case 'pause':
      return { ...playback, isPaused: !playback.isPaused }
    case 'step':
      return { ...playback, ...stepFrom(playback, script), isPaused: true }
    case 'next': // at the last turn there is only its end to go to
      return playback.scene < last
        ? { ...playback, scene: playback.scene + 1, atMs: 0 }
        : { ...playback, atMs: lengthOf(script, last) }
    case 'previous':
      return { ...playback, scene: Math.max(0, playback.scene - 1), atMs: 0 }
    case 'faster':
      return { ...playback, speed: within(playback.speed * 2, SLOWEST, FASTEST) }
    case 'slower':
      return { ...playback, speed: within(playback.speed / 2, SLOWEST, FASTEST) }
    case 'quit':
      return { ...playback, isQuit: true }
  }
}

/** To the end of the next piece: a prompt, a remark, a call, a reply. A heading comes with what is under it. */
function stepFrom({ scene, atMs }: Playback, script: readonly Scene[]): { scene: number; atMs: number } {
  const ahead = endsOf(script[scene]).find((ms) => ms > atMs + 1)
  if (ahead !== undefined) return { scene, atMs: ahead }
  const next = script[scene + 1]
  return next ? { scene: scene + 1, atMs: endsOf(next)[0] ?? 0 } : { scene, atMs: lengthOf(script, scene) }
}

function endsOf(scene: Scene | undefined): number[] {
  let ms = 0
  return (scene?.pieces ?? []).flatMap((piece) => {
    ms += piece.ms
    return piece.kind === 'head' ? [] : [ms]
  })
}

export const isOver = ({ scene, atMs }: Playback, script: readonly Scene[]): boolean =>
  scene >= script.length - 1 && atMs >= lengthOf(script, scene)

const lengthOf = (script: readonly Scene[], scene: number): number => script[scene]?.ms ?? 0
const within = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))
