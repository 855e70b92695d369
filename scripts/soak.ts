import { parseArgs } from 'node:util'
import { runSoak } from './soak/soak-run.ts'
import { trendsOf } from './soak/verdict.ts'

/**
 * `npm run soak -- --minutes 60 --rate 20`: one server under so many turns a second, and whether memory, handles, open
 * commits, bytes on disk a turn and the slowest turns stay as they were. Exits with 1 when one grew by more than 10 %, or
 * a turn failed. Memory and slow turns are judged from half an hour on; a shorter run only shows them.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '3' }, rate: { type: 'string', default: '20' } },
})

const number = (name: 'minutes' | 'rate'): number => {
  const value = Number(values[name])
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a number above 0`)
  return value
}

const minutes = number('minutes')
const { windows, failures } = await runSoak({
  minutes,
  turnsPerSecond: number('rate'),
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
