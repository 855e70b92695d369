import { positiveOption, readCommandLine } from '#src/start/command-line.ts'
import { runSoak } from './soak/soak-run.ts'
import { trendsOf } from './soak/verdict.ts'

/**
 * `npm run soak -- --minutes 60 --rate 20`: runs one server under this many turns per second, and checks that memory,
 * handles, open commits, bytes on disk per turn and the slowest turns stay stable. Exits with 1 when one grew by more
 * than 10 %, or a turn failed. Memory and slow turns are judged only in runs of half an hour or more; a shorter run
 * only shows them.
 */
const usage = [
  'usage: npm run soak -- [--minutes 3] [--rate 20]',
  '',
  'Runs one server under that many turns per second. Exits with 1 if a turn fails, or if memory, handles, open commits, bytes',
  'on disk per turn or p99 grow by more than 10 %. Memory and p99 are judged only in runs of half an hour or more.',
].join('\n')
const values = readCommandLine({ usage, options: { minutes: { type: 'string' }, rate: { type: 'string' } } })

const minutes = positiveOption(usage, 'minutes', values.minutes ?? '3')
const { windows, failures } = await runSoak({
  minutes,
  turnsPerSecond: positiveOption(usage, 'rate', values.rate ?? '20'),
  say: (line) => console.log(line),
})
const trends = trendsOf(windows, minutes)
const verdicts = { true: 'ok', false: 'GREW', null: 'too short to judge' } as const
for (const { name, first, last, holds } of trends)
  console.log(
    `${name.padEnd(14)} ${first.toFixed(1).padStart(10)} → ${last.toFixed(1).padStart(10)}  ${verdicts[`${holds}`]}`,
  )
for (const failure of failures) console.log(`FAILED ${failure}`)
process.exit(failures.length > 0 || trends.some(({ holds }) => holds === false) ? 1 : 0)
