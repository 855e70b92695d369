import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atNight } from '#test/setup/at-night.ts'
import type { Api } from '../api.ts'
import { either, World } from '../world.ts'

/** Kills per store. */
const kills = atNight ? 50 : 6

const content =
  '---\nname: refunds\ndescription: How refunds are granted.\n---\n\n# Refunds\n\nGrant refunds within 14 days.\n'

/** Resolves after so many turns of the event loop, each some tens of microseconds long. */
const later = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(either('sqlite'))('a skill on $store whose server is killed', ({ store }) => {
  let world: World
  let api: Api
  let skill = ''

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
    skill = (await api.post('/v1/skills', { name: 'refunds', description: 'How refunds are granted.' })).body.id
  })
  afterAll(() => world.stop())

  const statuses = async (): Promise<ReadonlyMap<string, string>> => {
    const { data } = (await api.get(`/v1/skills/${skill}/versions?limit=100`)).body
    return new Map(data.map(({ version, status }: { version: string; status: string }) => [version, status]))
  }
  /** The skill names its highest published version, whatever was cut off. */
  const isWhole = async (): Promise<void> => {
    const published = [...(await statuses())].filter(([, status]) => status === 'published').map(([version]) => version)
    const highest = published.toSorted((a, b) => Number(b.split('.')[0]) - Number(a.split('.')[0]))[0] ?? null
    const { latest_version } = (await api.get(`/v1/skills/${skill}`)).body
    expect(latest_version === null ? null : (latest_version.version ?? latest_version)).toBe(highest)
  }

  it('is never half published or half deprecated, and a repetition completes it', {
    timeout: 60_000 + kills * 20_000,
  }, async () => {
    const seen = { done: 0, undone: 0 }
    for (let kill = 1; kill <= kills; kill++) {
      const version = `${kill}.0.0`
      const made = await api.post(`/v1/skills/${skill}/versions`, { version, content })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      const at = `/v1/skills/${skill}/versions/${version}`
      const [verb, after] = kill % 2 === 0 ? ['deprecate', 'deprecated'] : ['publish', 'published']
      if (verb === 'deprecate') expect((await api.post(`${at}/publish`, {})).status).toBe(200)
      const request = api.post(`${at}/${verb}`, {}).catch(() => null)
      await later(Math.floor(Math.random() * 3000))
      await world.crash()
      const answered = await request
      await world.restart()
      const status = (await statuses()).get(version)
      if (answered?.status === 200) expect(status, 'what was acknowledged is done').toBe(after)
      seen[status === after ? 'done' : 'undone']++
      await isWhole()
      expect((await api.post(`${at}/${verb}`, {})).status).toBe(status === after ? 409 : 200)
      expect((await statuses()).get(version)).toBe(after)
      await isWhole()
    }
    if (kills > 10) process.stdout.write(`${kills} kills on ${store}: ${JSON.stringify(seen)}, none half done\n`)
  })
})
