import { describe, expect, it } from 'vitest'
import {
  failuresShown,
  maxScopes,
  maxStepUps,
  maxWaiters,
  stepUpWindowMs,
} from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { statusOf } from '#machines/status.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { after, outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  backoff,
  clientRefused,
  connection,
  deletion,
  demands,
  ended,
  fresh,
  gone,
  granted,
  grantedForGood,
  grantedOnce,
  key,
  machine,
  move,
  notExchanged,
  refresh,
  refused,
  rename,
  renewal,
  retention,
  revoke,
  signsIn,
  tested,
  unavailable,
  wait,
} from './connection-samples.ts'

const places = {
  pending: fresh(),
  'pending, with an actor that waits': connection(wait),
  'exchanging a code': connection(signsIn),
  'active by a key': fresh(true),
  'active until its token is refreshed': connection(signsIn, granted()),
  'active with a token that ends': connection(signsIn, grantedOnce),
  'signing in anew while it works': connection(signsIn, granted(), signsIn),
  'active but without a scope': connection(signsIn, granted(), demands()),
  'active but without a scope, with an actor that waits': connection(signsIn, granted(), demands(), wait),
  refreshing: connection(signsIn, granted(), renewal),
  'refreshing without a scope, with an actor that waits': connection(signsIn, granted(), demands(), wait, renewal),
  'waiting for another attempt': connection(signsIn, granted(), renewal, unavailable),
  'in error': connection(signsIn, granted(), renewal, clientRefused),
  expired: connection(signsIn, granted(), renewal, ended),
  'expired, with an actor that waits': connection(signsIn, granted(), renewal, ended, wait),
  'being revoked': connection(revoke),
  revoked: connection(revoke, gone),
  'removing itself': connection(deletion),
}

const events = {
  'a sign-in': signsIn,
  'a grant': granted(2),
  'a code that is no good': notExchanged,
  'a refresh of this token': refresh(1),
  'a refresh of an older token': refresh(0),
  'a refusal of this token': refused(1),
  'a refusal of an older token': refused(0),
  'a demand for a scope': demands(1),
  'a demand of an older token': demands(0),
  'a provider that is away': unavailable,
  'a grant that is over': ended,
  'a client that is refused': clientRefused,
  'a key': key,
  'another name': rename,
  'another server': move,
  'a test': tested,
  'an actor that waits': wait,
  'a revocation': revoke,
  'the end of a revocation': gone,
  'a deletion': deletion,
  'the end of a token': renewal,
  'the end of its wait': backoff,
  'the end of its retention': retention,
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

/** Events that any connection handles that is not revoked; `exit` is what leaving the state does. */
const taken = (state: string, exit = ''): Row => ({
  'a sign-in': `exchanging: ${exit}audit! exchangeCode!`,
  'another name': `${state}: audit!`,
  'another server': `pending: ${exit}audit!`,
  'a test': state,
  'a revocation': `revoking: ${exit}audit! revokeGrant!`,
  'a deletion': `erasing: ${exit}abort eraseConnection!`,
})

const refreshes = (outcome: string): Row => ({
  'a refresh of this token': outcome,
  'a refresh of an older token': outcome,
})

const notRefreshed = refreshes('refused invalid_transition')

/** A waiting actor is notified of the end. */
const dismisses: Row = {
  'a revocation': 'revoking: audit! connection_ended>act_1 revokeGrant!',
  'a deletion': 'erasing: abort connection_ended>act_1 eraseConnection!',
}

const renews = 'refreshing: forget refreshToken!'

const overAndDone: Row = {
  ...refreshes('refused connection_revoked'),
  'a sign-in': 'refused connection_revoked',
  'a key': 'refused connection_revoked',
  'another name': 'refused connection_revoked',
  'another server': 'refused connection_revoked',
}

/** Events that are not listed are ignored. */
const table: Record<keyof typeof places, Row> = {
  pending: {
    ...taken('pending'),
    ...notRefreshed,
    'a key': 'active.resting: audit!',
    'an actor that waits': 'pending',
  },
  'pending, with an actor that waits': {
    ...{ ...taken('pending'), ...notRefreshed, ...dismisses },
    'a key': 'active.resting: connected>act_1 audit!',
    'an actor that waits': 'pending',
  },
  'exchanging a code': {
    ...taken('exchanging', 'abort '),
    'a grant': 'active.scheduled: abort connection.granted remind',
    'a code that is no good': 'pending: abort connection.failed',
    'a key': 'active.resting: abort audit!',
    'an actor that waits': 'exchanging',
  },
  'active by a key': {
    ...{ ...taken('active.resting'), ...notRefreshed },
    'a refusal of this token': 'expired: notify!',
    'a demand for a scope': 'active.resting',
    'a key': 'active.resting: audit!',
    'an actor that waits': 'active.resting: connected>act_1',
  },
  'active until its token is refreshed': {
    ...taken('active.scheduled', 'forget '),
    'a refresh of this token': renews,
    'a refusal of this token': renews,
    'a demand for a scope': 'active.scheduled',
    'a key': 'active.scheduled: forget audit! remind',
    'an actor that waits': 'active.scheduled: connected>act_1',
    'the end of a token': renews,
  },
  'active but without a scope': {
    ...taken('active.scheduled', 'forget '),
    'a refresh of this token': renews,
    'a refusal of this token': renews,
    'a key': 'active.scheduled: forget audit! remind',
    'an actor that waits': 'active.scheduled',
    'the end of a token': renews,
  },
  'active but without a scope, with an actor that waits': {
    ...taken('active.scheduled', 'forget '),
    'a revocation': 'revoking: forget audit! connection_ended>act_1 revokeGrant!',
    'a deletion': 'erasing: forget abort connection_ended>act_1 eraseConnection!',
    'a refresh of this token': renews,
    'a refusal of this token': renews,
    'a key': 'active.scheduled: forget audit! remind',
    'an actor that waits': 'active.scheduled',
    'the end of a token': renews,
  },
  'active with a token that ends': {
    ...{ ...taken('active.scheduled', 'forget '), ...notRefreshed },
    'a refusal of this token': 'expired: forget notify!',
    'a demand for a scope': 'active.scheduled',
    'a key': 'active.scheduled: forget audit! remind',
    'an actor that waits': 'active.scheduled: connected>act_1',
    'the end of a token': 'expired: forget notify!',
  },
  'signing in anew while it works': {
    ...taken('exchanging', 'abort '),
    'a grant': 'active.scheduled: abort connection.granted remind',
    'a code that is no good': 'refreshing: abort connection.failed refreshToken!',
    'a key': 'active.scheduled: abort audit! remind',
    'an actor that waits': 'exchanging',
  },
  refreshing: {
    ...taken('refreshing', 'abort '),
    'a grant': 'active.scheduled: abort connection.granted remind',
    'a provider that is away': 'postponed: abort connection.failed remind',
    'a grant that is over': 'expired: abort connection.failed notify!',
    'a client that is refused': 'error: abort connection.failed notify!',
    'a demand for a scope': 'refreshing',
    'a key': 'active.scheduled: abort audit! remind',
    'an actor that waits': 'refreshing: connected>act_1',
  },
  'refreshing without a scope, with an actor that waits': {
    ...taken('refreshing', 'abort '),
    'a revocation': 'revoking: abort audit! connection_ended>act_1 revokeGrant!',
    'a deletion': 'erasing: abort abort connection_ended>act_1 eraseConnection!',
    // a refresh brings no scope: the actor waits for a sign-in
    'a grant': 'active.scheduled: abort connection.granted remind',
    'a provider that is away': 'postponed: abort connection.failed remind',
    'a grant that is over': 'expired: abort connection.failed notify!',
    'a client that is refused': 'error: abort connection.failed notify!',
    'a key': 'active.scheduled: abort audit! remind',
    'an actor that waits': 'refreshing',
  },
  'waiting for another attempt': {
    ...taken('postponed', 'forget '),
    'a refresh of this token': renews,
    'a refusal of this token': renews,
    'a demand for a scope': 'postponed',
    'a key': 'active.scheduled: forget audit! remind',
    'an actor that waits': 'postponed: connected>act_1',
    'the end of its wait': renews,
  },
  'in error': {
    ...taken('error'),
    'a refresh of this token': 'refreshing: refreshToken!',
    'a key': 'active.scheduled: notify! audit! remind',
    'an actor that waits': 'error',
  },
  expired: {
    ...{ ...taken('expired'), ...notRefreshed },
    'a key': 'active.scheduled: notify! audit! remind',
    'an actor that waits': 'expired',
  },
  'expired, with an actor that waits': {
    ...{ ...taken('expired'), ...notRefreshed, ...dismisses },
    'a key': 'active.scheduled: notify! connected>act_1 audit! remind',
    'an actor that waits': 'expired',
  },
  'being revoked': {
    ...overAndDone,
    'an actor that waits': 'revoking: connection_ended>act_1',
    'the end of a revocation': 'revoked: remind',
    'a deletion': 'erasing: abort eraseConnection!',
  },
  revoked: {
    ...overAndDone,
    'an actor that waits': 'revoked: connection_ended>act_1',
    'a deletion': 'erasing: forget abort eraseConnection!',
    'the end of its retention': 'erasing: forget abort eraseConnection!',
  },
  'removing itself': {
    ...refreshes('refused not_found'),
    'another name': 'refused not_found',
    'another server': 'refused not_found',
    'a revocation': 'refused not_found',
    'a deletion': 'refused not_found',
  },
}

it('covers every state of a connection', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  expect([...new Set(Object.values(events).map((event) => event.type))].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a connection that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? 'ignored')
  })
})

it('keeps its grant however often the provider is away, and shows an error after repeated failures', () => {
  let at = connection(signsIn, granted(), renewal)
  for (let failures = 1; failures < failuresShown; failures++) {
    at = after(machine, at, unavailable)
    expect(statusOf(connectionDefinition, at)).toBe('active')
    at = after(machine, at, backoff)
  }
  at = after(machine, at, unavailable)
  expect(statusOf(connectionDefinition, at)).toBe('error')
  expect(at.context).toMatchObject({ held: true, is_refreshable: true })
  expect(statusOf(connectionDefinition, after(machine, at, backoff, granted(2)))).toBe('active')
})

it('never refreshes a token that has been replaced', () => {
  const renewed = connection(signsIn, granted(1), refresh(1), granted(2))
  expect(outcomeOf(machine, renewed, refresh(1))).toBe('ignored')
  expect(pathOf(after(machine, renewed, refresh(2)).value)).toBe('refreshing')
})

it('stays active with a token that does not expire, until it is refused', () => {
  const lasting = connection(signsIn, grantedForGood)
  expect(pathOf(lasting.value)).toBe('active.resting')
  expect(pathOf(after(machine, lasting, refused(1)).value)).toBe('expired')
})

it('accepts 1,000 waiting actors, and dismisses the next one at once', () => {
  const waits = (n: number): StoredEvent => ({ type: 'wait', actor: `act_${n}` })
  const full = connection(...Array.from({ length: maxWaiters }, (_, n) => waits(n)))
  expect(full.context.waiters).toHaveLength(maxWaiters)
  expect(outcomeOf(machine, full, waits(0))).toBe('pending')
  expect(outcomeOf(machine, full, waits(maxWaiters))).toBe(`pending: connection_ended>act_${maxWaiters}`)
  expect(after(machine, full, waits(maxWaiters)).context.waiters).toHaveLength(maxWaiters)
})

describe('a demand for scopes', () => {
  const contextAfter = (...events: readonly StoredEvent[]) => connection(...events).context
  const scopes = (count: number, at = 0): StoredEvent => demands(1, [`s${count}`], at)

  it('adds to the scopes of the next sign-in, which satisfies it', () => {
    const demanded = contextAfter(signsIn, granted(), demands())
    expect(demanded).toMatchObject({ scopes: ['read', 'write'], missing_scopes: ['write'], held: true })
    const after = contextAfter(signsIn, granted(), demands(), { ...signsIn, scopes: ['read', 'write'] }, granted(2))
    expect(after).toMatchObject({ scopes: ['read', 'write'], missing_scopes: [] })
  })

  it('wakes the calls that wait for it at the next sign-in, and not at a refresh', () => {
    const waiting = connection(signsIn, granted(), demands(), wait, renewal, granted(2))
    expect(waiting.context.waiters).toEqual(['act_1'])
    expect(outcomeOf(machine, after(machine, waiting, signsIn), granted(3))).toContain('connected>act_1')
  })

  it('is ignored for scopes that the latest sign-in has requested', () => {
    expect(outcomeOf(machine, connection(signsIn, granted()), demands(1, ['read']))).toBe('ignored')
  })

  it('is ignored after several within a day, so that a server cannot demand sign-ins without end', () => {
    const events = Array.from({ length: maxStepUps }, (_, count) => scopes(count, count))
    expect(outcomeOf(machine, connection(signsIn, granted(), ...events), scopes(98, maxStepUps))).toBe('ignored')
    const later = contextAfter(signsIn, granted(), ...events, scopes(99, stepUpWindowMs + 1))
    expect(later).toMatchObject({ step_ups: 1 })
    expect(later.missing_scopes).toContain('s99')
  })

  it('never makes more scopes than a sign-in can request', () => {
    const many = Array.from({ length: maxScopes }, (_, count) => `many${count}`)
    expect(outcomeOf(machine, connection(signsIn, granted()), demands(1, many))).toBe('ignored')
  })
})
