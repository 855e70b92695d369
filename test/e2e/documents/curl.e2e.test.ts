import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'
import { runBlocks } from './page-session.ts'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

/** The commands of README.md: a first call, and a turn with an approval and a resume. */
const commands = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)]
  .map((block) => block[1] ?? '')
  .filter((block) => block.includes('curl '))

/** Above the duration of the commands on a busy machine. */
const limit = { timeout: 120_000 }

describe('the commands in README.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-readme-'))
  let world: World
  beforeAll(async () => {
    world = await World.start()
  })
  afterAll(async () => {
    await world.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('answer a first call, run a turn, approve its tool call and resume the stream when pasted', limit, async () => {
    const env = { TROUPE_URL: world.url, TROUPE_KEY: world.secretKey }
    const [first, block] = await runBlocks(commands, { folder, env })
    expect(JSON.parse(first?.printed ?? '')).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
    const printed = block?.printed ?? ''
    const paused = /^event: turn\.paused\nid: (\d+)\ndata: .*"action_id":"act_\w+".*$/m.exec(printed)
    expect(paused?.[1]).toBe('3')
    const resumed = printed.slice((paused?.index ?? 0) + (paused?.[0].length ?? 0))
    expect(resumed).toMatch(/^event: turn\.completed\nid: \d+\ndata: .*31 degrees, sunny/m)
    const ids = [...resumed.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))
    const half = ids.length / 2
    expect(ids[0]).toBe(4)
    expect(ids.slice(half), 'reading on gives the same events again').toEqual(ids.slice(0, half))
  })
})
