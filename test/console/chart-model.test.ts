import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { definitions } from '#actors/capabilities.ts'
import { arrowHead, chartMarks, edgePath, edgesWalked, eventText, middleOf, wayOf } from '../../console/chart-model.ts'
import { toneOf } from '../../console/format.ts'

const layoutOf = (machine: string) =>
  JSON.parse(readFileSync(new URL(`../../console/charts/${machine}.layout.json`, import.meta.url), 'utf8'))

const session = layoutOf('session')
const idle = ['active', 'active.idle']
const thinking = ['active', 'active.working', 'active.working.thinking']

const taken = (active: readonly string[], before: readonly string[] | null) =>
  [...chartMarks(session, active, before).edges].map((index) => {
    const { from, to } = session.edges[index]
    return `${from} → ${to}`
  })

describe('the marks of a state chart', () => {
  it('distinguish the innermost active state and the regions around it', () => {
    const { nodes } = chartMarks(session, thinking, null)
    expect(nodes.get('active.working.thinking')?.standing).toBe('current')
    expect(nodes.get('active.working')?.standing).toBe('within')
    expect(nodes.get('active')?.standing).toBe('within')
    const others = [...nodes].filter(([id]) => !thinking.includes(id))
    expect(others.every(([, { standing }]) => standing === 'none')).toBe(true)
  })

  it('are absent for a parked actor', () => {
    expect([...chartMarks(session, [], null).nodes.values()].some(({ standing }) => standing !== 'none')).toBe(false)
  })

  it('highlight nothing before the first transition', () => {
    const { nodes, edges } = chartMarks(session, idle, null)
    expect([...nodes.values()].some(({ touched }) => touched)).toBe(false)
    expect(edges.size).toBe(0)
  })

  it('highlight the states that the last transition left and entered, and the edge between them', () => {
    const { nodes } = chartMarks(session, thinking, idle)
    const touched = [...nodes].filter(([, mark]) => mark.touched).map(([id]) => id)
    expect(touched.sort()).toEqual(['active.idle', 'active.working', 'active.working.thinking'])
    expect(taken(thinking, idle)).toEqual(['active.idle → active.working'])
    expect(taken(idle, thinking)).toEqual(['active.working.thinking → active.idle'])
  })

  it('follow a transition through a transient state', () => {
    expect(taken(['paused'], thinking)).toEqual([
      'active.working.thinking → active.working.deciding',
      'active.working.deciding → paused',
    ])
  })

  it('follow a transition that any state may take', () => {
    expect(taken(['deleted'], idle)).toEqual(['@any → deleted'])
  })

  it.each(definitions.map(({ name }) => name))('have a stored layout for the %s machine', (name) => {
    const layout = layoutOf(name)
    const definition = definitions.find((each) => each.name === name)
    expect(layout).toMatchObject({ machine: name, version: definition?.version })
    const drawn = layout.nodes.map(({ id }: { id: string }) => id)
    for (const state of Object.keys(definition?.machine.states ?? {})) expect(drawn).toContain(state)
  })
})

describe('the edges that an actor took', () => {
  const walked = (...states: readonly (readonly string[])[]) =>
    [...edgesWalked(session, states)].map((index) => `${session.edges[index].from} → ${session.edges[index].to}`)

  it('are listed once each', () => {
    const once = walked(idle, thinking, idle)
    expect(once).toEqual([...taken(thinking, idle), ...taken(idle, thinking)])
    expect(walked(idle, thinking, idle, thinking, idle)).toEqual(once)
  })

  it('are none before the first transition', () => {
    expect(walked()).toEqual([])
    expect(walked(idle)).toEqual([])
  })
})

describe('the names of the edges that a step took', () => {
  const named = (active: readonly string[], before: readonly string[], event: string) =>
    wayOf(session, { active, before, event }).map(({ text }) => text)

  it('are its event with the guard, and the guards of the transient states that it passed', () => {
    expect(named(idle, thinking, 'model_answered')).toEqual(['model_answered [answersFinally]'])
    expect(named(['paused'], thinking, 'model_answered')).toEqual(['model_answered', '[someWait]'])
  })

  it('distinguish the events of one edge', () => {
    const acting = ['active', 'active.working', 'active.working.acting']
    for (const event of ['tool_answered', 'action_approved']) expect(named(thinking, acting, event)[0]).toContain(event)
  })

  it('name a delay as the chart does', () => {
    expect(eventText('xstate.after.inactivity.session.active.idle')).toBe('after inactivity')
    expect(eventText('turn')).toBe('turn')
  })
})

describe('edges', () => {
  it('are named at the middle of their longest line', () => {
    expect(
      middleOf([
        [0, 0],
        [0, 10],
        [40, 10],
      ]),
    ).toEqual([20, 10])
  })

  it('are straight lines with round corners that fit short segments', () => {
    const path = edgePath([
      [0, 0],
      [0, 20],
      [4, 20],
    ])
    expect(path).toBe('M0 0L0 15Q0 20 2 20L4 20')
  })

  it('end in an arrow in their direction', () => {
    const down = arrowHead([
      [10, 0],
      [10, 30],
    ])
    expect(down).toBe('10,30 6.5,23 13.5,23')
  })
})

describe('tones', () => {
  it('follow the innermost part of a state that has a tone', () => {
    expect(toneOf('active.working.thinking')).toBe('work')
    expect(toneOf('active.idle')).toBe('calm')
    expect(toneOf('pending_approval')).toBe('wait')
    expect(toneOf('expired')).toBe('bad')
  })
})
