import { describe, expect, it } from 'vitest'
import { lineDiff } from '../../../console/parts/line-diff.ts'
import { outlineOf } from '../../../console/resources/version-outline.ts'

describe('the lines of two texts', () => {
  it('are kept, removed and added in their order', () => {
    expect(lineDiff('a\nb\nc', 'a\nc\nd')).toEqual([
      [' ', 'a'],
      ['-', 'b'],
      [' ', 'c'],
      ['+', 'd'],
    ])
    expect(lineDiff('a\na', 'a')).toEqual([
      [' ', 'a'],
      ['-', 'a'],
    ])
  })
})

describe('the outline of a version', () => {
  it('has a line for each value and each line of a text, without what every version has of its own', () => {
    const version = { id: 'agv_1', version: '1.0.0', created_at: 'now', status: 'draft' }
    const config = { model: 'm', system_prompt: 'Be kind.\nBe brief.', tools: [{ name: 'refund' }], seed: null }
    expect(outlineOf({ ...version, config })).toBe(
      'config.model: m\nconfig.system_prompt:\n  Be kind.\n  Be brief.\nconfig.tools[1].name: refund',
    )
  })
})
