import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { animationOf, scheduleOf } from '../../console/chart-animation.ts'
import type { Layout } from '../../console/chart-model.ts'
import { activeAt } from '../../console/steps-model.ts'

const layout: Layout = JSON.parse(readFileSync('console/charts/session.layout.json', 'utf8'))
const move = (from: string, to: string, event: string, at: number) => ({
  ...{ active: activeAt(to), before: activeAt(from), event, at },
})
const moves = [
  move('active.idle', 'active.working.thinking', 'turn', 0),
  move('active.working.thinking', 'paused', 'model_answered', 50_000),
]

describe('the moving picture of a lifecycle', () => {
  it('shortens waiting, and stands still at its end', () => {
    expect(scheduleOf(moves)).toEqual({ begins: [0, 1500], whole: 3500 })
    expect(scheduleOf([])).toEqual({ begins: [], whole: 2000 })
  })

  it('lights each step with its event, and moves a token along the edges that it took', () => {
    const svg = animationOf(layout, moves, 'a <session> & "more"')
    expect(svg).toContain('<title>a &lt;session> &amp; &quot;more&quot;</title>')
    expect(svg.match(/animateMotion/g)).toHaveLength(2)
    expect(svg).toContain('1. turn → active.working.thinking')
    expect(svg).toContain('2. model_answered → paused')
    const times = [...svg.matchAll(/keyTimes="([^"]*)"/g)].map(([, text = '']) => text.split(';').map(Number))
    for (const each of times) {
      expect(each.every((time) => time >= 0 && time <= 1)).toBe(true)
      expect(each.toSorted((a, b) => a - b)).toEqual(each)
    }
  })

  it('has no script and names no other file', () => {
    expect(animationOf(layout, moves, 'x')).not.toMatch(/script|href|url\(|@import|\son\w+=/)
  })
})
