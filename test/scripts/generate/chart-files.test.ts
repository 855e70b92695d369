import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { setup } from 'xstate'
import type { Chart } from '#machines/definition.ts'
import { chartDigestsPath, chartFiles, chartPath } from '#scripts/generate/chart-files.ts'

const chartOf = (event: string): Chart => ({
  name: 'sample',
  version: 1,
  machine: setup({}).createMachine({
    id: 'sample',
    initial: 'open',
    states: { open: { on: { [event]: 'closed' } }, closed: { type: 'final' } },
  }),
})

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

const root = mkdtempSync(join(tmpdir(), 'troupe-charts-'))
afterAll(() => rmSync(root, { recursive: true }))

const chart = chartOf('close')
const [layout, digests] = [join(root, chartPath('sample')), join(root, chartDigestsPath)]
const stored = { layout: '', digests: '' }

/** Files as they were generated for the chart. */
beforeEach(async () => {
  if (stored.layout === '') {
    const [drawn, recorded] = await chartFiles([chart], { root })
    for (const path of [layout, digests]) mkdirSync(dirname(path), { recursive: true })
    Object.assign(stored, { layout: drawn?.text, digests: recorded?.text })
  }
  writeFileSync(layout, stored.layout)
  writeFileSync(digests, stored.digests)
})

const generated = async (of: Chart, isAnew = false): Promise<string> =>
  (await chartFiles([of], { root, isAnew }))[0]?.text ?? ''

const forged = (): string => stored.layout.replace('"width":', '"width":1')

describe('a layout', () => {
  it('that was edited by hand is made again, and so differs from its file', async () => {
    writeFileSync(layout, forged())
    expect(forged()).not.toBe(stored.layout)
    expect(await generated(chart)).toBe(stored.layout)
  })

  it('is made again when its machine changes', async () => {
    expect(await generated(chartOf('shut'))).toContain('"shut"')
  })

  it('whose machine and file are as recorded is not made again, unless all are', async () => {
    writeFileSync(layout, forged())
    writeFileSync(digests, stored.digests.replace(hash(stored.layout), hash(forged())))
    expect(await generated(chart)).toBe(forged())
    expect(await generated(chart, true)).toBe(stored.layout)
  })

  it('is made again when a conflict of branches left the recorded digests unreadable', async () => {
    writeFileSync(digests, `<<<<<<< HEAD\n${stored.digests}=======\n`)
    writeFileSync(layout, forged())
    expect(await generated(chart)).toBe(stored.layout)
  })
})
