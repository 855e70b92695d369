import { describe, expect, it } from 'vitest'
import { SkillReader } from '#actors/skills/review/skill-reader.ts'
import { projectScope } from '#storage/scope.ts'

const scope = projectScope('prj_a')
const passages = Array.from({ length: 30 }, (_, at) => ({ path: 'SKILL.md', line: at + 1, text: `step ${at}` }))

/** A model that suspects the passages with these texts, and reads so many at once. */
const modelOf = (suspected: readonly string[], atOnce = 5) => ({
  suspect: async (texts: readonly string[]) =>
    texts.slice(0, atOnce).map((text) => (suspected.includes(text) ? 2 : -4)),
})

describe('reading the passages of a skill', () => {
  it('blocks it at the lines that are suspected, however many are read at once', async () => {
    for (const atOnce of [1, 5, 100]) {
      const reader = new SkillReader(modelOf(['step 3', 'step 29'], atOnce))
      expect(await reader.findings({ passages, isWhole: true }, scope)).toEqual(
        [4, 30].map((line) => ({
          ...{ severity: 'blocker', code: 'suspected_harm', path: 'SKILL.md', line, message: expect.any(String) },
        })),
      )
    }
  })

  it('finds nothing in a skill that is not suspected', async () => {
    expect(await new SkillReader(modelOf([])).findings({ passages, isWhole: true }, scope)).toEqual([])
    expect(await new SkillReader(modelOf([])).findings({ passages: [], isWhole: true }, scope)).toEqual([])
  })

  it('says when no model has read it, which blocks nothing', async () => {
    const ended = { suspect: () => Promise.reject(new Error('the embedder ended')) }
    for (const embedder of [null, {}, { suspect: async () => null }, ended])
      expect(await new SkillReader(embedder).findings({ passages, isWhole: true }, scope)).toEqual([
        expect.objectContaining({ severity: 'info', code: 'not_read' }),
      ])
  })

  it('warns when only the beginning was read: it is too long, or the model failed meanwhile', async () => {
    let calls = 0
    const failing = { suspect: async (texts: readonly string[]) => (calls++ > 0 ? null : texts.map(() => -4)) }
    const others = passages.map((each) => ({ ...each, path: 'notes.md' }))
    for (const [embedder, isWhole] of [
      [modelOf([]), false],
      [failing, true],
    ] as const)
      expect(await new SkillReader(embedder).findings({ passages: others, isWhole }, scope)).toEqual([
        expect.objectContaining({ severity: 'warning', code: 'read_incomplete' }),
      ])
  })

  it('blocks it when its page is longer than what is read, as one is that was filled up in front of what it hides', async () => {
    const page = { passages, isWhole: false }
    const other = { passages: [...passages, { path: 'data.csv', line: 1, text: 'row' }], isWhole: false }
    const severities = async (reading: typeof page) =>
      (await new SkillReader(modelOf([])).findings(reading, scope)).map(({ severity }) => severity)
    expect(await severities(page)).toEqual(['blocker'])
    expect(await severities(other)).toEqual(['warning'])
  })

  it('waits while the model serves others first, and has turns with other projects', async () => {
    let late = 3
    const busy = { suspect: async (texts: readonly string[]) => (late-- > 0 ? [] : texts.map(() => 1)) }
    expect(await new SkillReader(busy).findings({ passages: passages.slice(0, 3), isWhole: true }, scope)).toHaveLength(
      3,
    )
    const order: string[] = []
    let [running, most] = [0, 0]
    const noting = {
      suspect: async (texts: readonly string[]) => {
        order.push(texts[0]?.split(' ', 1)[0] ?? '')
        most = Math.max(most, ++running)
        await Promise.resolve()
        running--
        return texts.map(() => -1)
      },
    }
    const reader = new SkillReader(noting)
    const long = Array.from({ length: 400 }, (_, at) => ({ path: 'a.md', line: at + 1, text: `long ${at}` }))
    await Promise.all([
      ...[1, 2, 3].map(() => reader.findings({ passages: long, isWhole: true }, scope)),
      reader.findings(
        { passages: [{ path: 'SKILL.md', line: 1, text: 'short' }], isWhole: true },
        projectScope('prj_b'),
      ),
    ])
    expect(order.indexOf('short')).toBeLessThan(10)
    // a second one would always wait already, and what is embedded in the background for both
    expect(most).toBe(1)
  })

  it('waits no longer than it may, also for its turn', async () => {
    const { promise: forever, resolve: end } = Promise.withResolvers<readonly number[]>()
    const reader = new SkillReader({ suspect: () => forever }, 5)
    const first = reader.findings({ passages, isWhole: true }, scope)
    expect(await reader.findings({ passages, isWhole: true }, scope)).toEqual([
      expect.objectContaining({ severity: 'warning', code: 'read_incomplete' }),
    ])
    end([-4])
    expect(await first).toEqual([expect.objectContaining({ code: 'read_incomplete' })])
  })
})
