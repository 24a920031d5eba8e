import type { PurgeReport } from '../../home/index.js'
import { grouped } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

type Place = PurgeReport['places'][number]
type Proof = NonNullable<PurgeReport['proof']>

/** Where it was, what is left, and what a person has to do about it. Never what it was. */
export function purgeView(report: PurgeReport, screen: Screen): string {
  const { dry_run, places, count, spellings, proof } = report
  const isPlain = spellings.every((spelling) => spelling === 'plain')
  const written = isPlain ? '' : ` (${spellings.map((spelling) => WRITTEN[spelling]).join(', ')})`
  const found = `${plural(count, 'occurrence')} in ${plural(places.length, 'file')}${written}`
  return [
    ...(places.length > 0 ? [placeTable(places, screen)] : []),
    dry_run ? `Would purge ${found}. Nothing was changed; do it with --yes` : `Purged ${found}.`,
    ...nativeLines(report),
    ...pathLines(report),
    ...(proof ? proofLines(proof, screen) : []),
  ].join('\n')
}

const WRITTEN: Record<PurgeReport['spellings'][number], string> = {
  plain: 'plain',
  escaped: 'with escapes of JSON or a shell',
  coloured: 'with colours or hidden characters inside',
  percent: 'percent-encoded',
  base64: 'in base64',
  hex: 'in hex',
}

function nativeLines({ native_logs }: PurgeReport): string[] {
  if (native_logs.length === 0) return []
  const shown = native_logs.slice(0, MOST_LOGS).map(({ file, count }) => `  ${safeText(file)} (${grouped(count)})`)
  return [
    'These logs of the tools contain it. Skein does not change them, and leaves it out when it reads them:',
    ...shown,
    ...(native_logs.length > MOST_LOGS ? [`  and ${native_logs.length - MOST_LOGS} more`] : []),
  ]
}

const MOST_LOGS = 20

/** What cannot be taken out, and what a person can do instead. */
function pathLines({ log_paths }: PurgeReport): string[] {
  if (log_paths === 0) return []
  return [
    `It is part of the path of ${plural(log_paths, 'log')}, where it stays, because logs and their records are found by their path:`,
    '  rename the directories. If nothing else is left, finish with: skein purge --resume --accept',
  ]
}

function proofLines({ files, bytes, left, unreadable }: Proof, screen: Screen): string[] {
  const times = left.reduce((sum, place) => sum + place.count, 0)
  return [
    `${grouped(times)} left in ${plural(files, 'file')}, ${grouped(bytes)} bytes.`,
    ...(left.length > 0
      ? [
          placeTable(left, screen),
          'Stop what writes there, then run: skein purge --resume (with --accept to leave it there)',
        ]
      : []),
    ...unreadable.map(
      (file) => `${safeText(file)} is damaged and could not be checked. Delete it, then run: skein purge --resume`,
    ),
  ]
}

const placeTable = (places: readonly Place[], screen: Screen): string =>
  table(
    places,
    [
      { header: 'FILE', text: ({ file }) => file, shrinkTo: 20 },
      { header: 'TIMES', text: ({ count }) => grouped(count), align: 'right' },
    ],
    screen,
  )
