import { DAY_MS } from '../../model/index.js'

/** Names of the zone without an offset: no calendars have to be loaded for it. */
const UTC_NAMES = new Set(['UTC', 'Etc/UTC', 'Etc/UCT', 'Etc/Universal', 'Etc/Zulu', 'UCT', 'Universal', 'Zulu'])
const STEP_MS = 15 * 60_000 // no zone changes its clock at a finer step

/** The days of one time zone. Asking the system for a zone's offset is slow, so it is asked once per day, not per call. */
export class LocalCalendar {
  readonly #offsets: ((ms: number) => number) | undefined
  /** By UTC day: the offset when it holds all day, else NaN. */
  readonly #dayOffsets = new Map<number, number>()
  readonly #stepOffsets = new Map<number, number>()
  readonly #labels = new Map<number, string>()

  /** `zone` is an IANA name such as `Europe/Berlin`; an unknown one throws a RangeError. */
  constructor(readonly zone: string) {
    this.#offsets = UTC_NAMES.has(zone) ? undefined : zoneOffsets(zone)
  }

  /** Days since 1970-01-01 in local time. */
  dayNumber(ms: number): number {
    return Math.floor((ms + this.#offsetAt(ms)) / DAY_MS)
  }

  /** `2026-01-17` */
  dayLabel(day: number): string {
    let label = this.#labels.get(day)
    if (label === undefined) {
      label = new Date(day * DAY_MS).toISOString().slice(0, -14)
      this.#labels.set(day, label)
    }
    return label
  }

  /** `2026-W03`: weeks begin on Monday, and belong to the year that has their Thursday. */
  weekLabel(day: number): string {
    const thursday = day - ((day + 3) % 7) + 3
    const year = new Date(thursday * DAY_MS).getUTCFullYear()
    const week = Math.floor((thursday - Date.UTC(year, 0, 1) / DAY_MS) / 7) + 1
    return `${year}-W${String(week).padStart(2, '0')}`
  }

  /** `2026-01` */
  monthLabel(day: number): string {
    return this.dayLabel(day).slice(0, -3)
  }

  #offsetAt(ms: number): number {
    const offsets = this.#offsets
    if (!offsets) return 0
    const utcDay = Math.floor(ms / DAY_MS)
    let offset = this.#dayOffsets.get(utcDay)
    if (offset === undefined) {
      offset = offsets(utcDay * DAY_MS)
      if (offset !== offsets((utcDay + 1) * DAY_MS - 1)) offset = Number.NaN
      this.#dayOffsets.set(utcDay, offset)
    }
    if (!Number.isNaN(offset)) return offset
    const step = Math.floor(ms / STEP_MS)
    let atStep = this.#stepOffsets.get(step)
    if (atStep === undefined) {
      atStep = offsets(step * STEP_MS)
      this.#stepOffsets.set(step, atStep)
    }
    return atStep
  }
}

function zoneOffsets(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return (ms) => {
    const [, sign, hours, minutes, seconds] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(format.format(ms)) ?? []
    if (sign === undefined) return 0
    const size = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds ?? 0) * 1_000
    return sign === '-' ? -size : size
  }
}
