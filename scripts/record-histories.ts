import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommandLine } from '#src/start/command-line.ts'
import { definitions } from '../src/actors/capabilities.ts'
import { takeIdsFrom } from '../src/actors/runtime/ids.ts'
import { openWorld } from '../test/actors/sessions/harness.ts'
import { VirtualClock } from '../test/support/virtual-clock.ts'
import { type History, historiesFolder, historyText } from './histories/history.ts'
import { Recorder } from './histories/recorder.ts'
import { type Scenario, scenarios } from './histories/scenarios.ts'

/**
 * `npm run record-histories`: plays every scenario on the real runtime and stores the histories of the actors under the
 * current versions of their machines. Later releases must be able to continue from each of these states
 * (test/actors/runtime/histories.test.ts), so histories of a released version are never recorded again.
 *
 * `-- --again` records a version again that is not released yet.
 */
const usage = [
  'usage: npm run record-histories [-- --again]',
  '',
  'Records the histories of actors under the current versions of their machines.',
  '--again also replaces those that are recorded: use it only while the version is unreleased.',
].join('\n')
const { again = false } = readCommandLine({ usage, options: { again: { type: 'boolean' } } })

/** Time in ms, longer than any wait of a shutdown. */
const graceMs = 5000

const record = async ({ name, scripts, play, ...more }: Scenario): Promise<readonly History[]> => {
  const recorder = new Recorder()
  const clock = new VirtualClock()
  let drawn = 0
  takeIdsFrom({ now: clock.now, random: () => (drawn++ % 32) / 32 })
  const { storage } = recorder
  const world = await openWorld({ storage, clock, scripts, ...more })
  recorder.listen(world.host)
  await play(world, clock)
  const drained = world.runtime.drain(0)
  await clock.advance(graceMs)
  await drained
  return recorder.histories(name)
}

const histories: History[] = []
for (const scenario of scenarios) histories.push(...(await record(scenario)))

for (const { name, version } of definitions) {
  const machine = `${name}@${version}`
  const folder = join(historiesFolder, machine)
  if (existsSync(folder) && !again) {
    process.stdout.write(`${machine} is recorded already: raise its version, or use --again while it is unreleased\n`)
    continue
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const own = histories.filter((history) => history.machine === machine)
  for (const history of own) writeFileSync(join(folder, `${history.name}.json`), historyText(history))
  process.stdout.write(`${machine}: ${own.length} histories\n`)
}
