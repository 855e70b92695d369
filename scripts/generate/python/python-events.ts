import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { followedEvents } from '#specs/events/session-messages.ts'
import { type WebhookEventType, webhookEvents, webhookEventTypes } from '#specs/events/webhook-events.ts'
import { turnRequest } from '#specs/resources/sessions.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { doc, PythonTypes, pascal } from './python-types.ts'

const head = (
  says: string,
): string => `"""${says} Made from the declarations by \`npm run generate\`; not to be edited."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
`

/** A class with the names of its fields. */
interface Base {
  readonly name: string
  readonly fields: readonly string[]
}

/** An event of a log: its fields beside its sequence number. */
const eventClass = (types: PythonTypes, name: string, schema: JsonSchema): string => {
  const fields = Object.entries(schema.properties ?? {}).map(([field, each]) => {
    const type = types.of(each, `${pascal(name)}${pascal(field)}`)
    const isRequired = schema.required?.includes(field) === true
    return `    ${field}: ${isRequired ? type : `${type === 'object' ? type : `${type} | None`} = None`}\n${doc(each)}`
  })
  const own = [...fields, `    event: Literal["${name}"] = "${name}"\n`]
  return `\n@dataclass(frozen=True, kw_only=True)\nclass ${pascal(name)}(LogEvent):\n${doc(schema)}${own.join('')}`
}

const logEvent = `
@dataclass(frozen=True, kw_only=True)
class LogEvent:
    id: int
    """Sequence number in the log; 0 for an event that is in no log."""
`

/** `events.py`: the events of a session's log, its messages, and the fields of a turn. */
const eventsFile = (): GeneratedFile => {
  const types = new PythonTypes()
  const events = Object.entries(followedEvents)
  const classes = events.map(([name, { json }]) => eventClass(types, name, json))
  const { input: _, retry_of: __, ...options } = turnRequest.json.properties ?? {}
  types.declare('TurnOptions', { description: 'Fields of a turn beside its input.', properties: options })
  const names = events.map(([name]) => pascal(name))
  const text = [
    head('Events of a session, its messages, and the fields of a turn.'),
    types.declarations(),
    logEvent,
    classes.join('\n'),
    `\nSessionEvent = Union[${names.join(', ')}]\n"""An event of a session, which a \`match\` exhausts."""\n`,
    `EVENTS: dict[str, type[SessionEvent]] = {${events.map(([name]) => `"${name}": ${pascal(name)}`).join(', ')}}`,
    '"""Classes by the names of events."""\n',
  ].join('\n')
  return { path: 'packages/python/src/troupe/events.py', text }
}

/** What all events about one kind of resource have in common: `run` for `run.queued` and `run.failed`. */
const declareShared = (types: PythonTypes, [noun, names]: readonly [string, readonly WebhookEventType[]]): Base => {
  const [first = {}, ...others] = names.map((name) => webhookEvents[name].data.json)
  const same = Object.entries(first.properties ?? {}).filter(([field, schema]) =>
    others.every(
      ({ properties, required }) =>
        isDeepStrictEqual(properties?.[field], schema) && required?.includes(field) === first.required?.includes(field),
    ),
  )
  const schema = { properties: Object.fromEntries(same), required: first.required ?? [] }
  return { name: types.declare(`${pascal(noun)}EventData`, schema), fields: same.map(([field]) => field) }
}

const declareEvent = (types: PythonTypes, type: WebhookEventType, base: Base): string => {
  const { says, data } = webhookEvents[type]
  const { properties = {}, required = [] } = data.json
  const own = Object.fromEntries(Object.entries(properties).filter(([field]) => !base.fields.includes(field)))
  const dataName =
    Object.keys(own).length === 0
      ? base.name
      : types.declare(`${pascal(type)}EventData`, { properties: own, required }, base.name)
  const name = `${pascal(type)}Event`
  types.add(name, `(SentEvent):\n${doc({ description: says })}    type: Literal["${type}"]\n    data: ${dataName}\n`)
  return name
}

/** `webhook_events.py`: what the server sends to webhooks. */
const webhooksFile = (): GeneratedFile => {
  const types = new PythonTypes()
  types.declare('SentEvent', { properties: { timestamp: { type: 'string' } }, required: ['timestamp'] })
  const nouns = [...Map.groupBy(webhookEventTypes, (type) => type.slice(0, type.lastIndexOf('.')))]
  const names = nouns.flatMap((noun) => {
    const base = declareShared(types, noun)
    return noun[1].map((type) => declareEvent(types, type, base))
  })
  const union = `\nWebhookEvent = Union[${names.join(', ')}]\n"""An event that the server sends to webhooks, by its \`type\`."""\n`
  const text = [head('Events that the server sends to webhooks.'), types.declarations(), union].join('\n')
  return {
    path: 'packages/python/src/troupe/webhook_events.py',
    text: text.replace('from dataclasses import dataclass\n', ''),
  }
}

/** The types of the client for Python. */
export const pythonFiles = (): readonly GeneratedFile[] => [eventsFile(), webhooksFile()]
