import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errors } from '#specs/errors/errors.ts'
import { webhookEventTypes } from '#specs/events/webhook-events.ts'

/** The code of the server, without its comments: what nothing in it names cannot happen. */
const code = readdirSync('src', { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  .join('\n')
  .replace(/\/\*[\s\S]*?\*\//g, '')
  .replace(/^\s*\/\/.*$/gm, '')

const isNamed = (word: string): boolean => code.includes(`'${word}'`)

/** The last part of some event types is put in by the code: `tenant.${what}`. */
const isPutTogether = (type: string): boolean => {
  const dot = type.lastIndexOf('.')
  return code.includes(`\`${type.slice(0, dot)}.\${`) && isNamed(type.slice(dot + 1))
}

describe('what the interface declares', () => {
  it.each(Object.keys(errors))('the error %s is one that the code names', (name) => {
    expect(isNamed(name)).toBe(true)
  })

  it.each(webhookEventTypes)('the webhook event %s is one that the code sends', (type) => {
    expect(isNamed(type) || isPutTogether(type)).toBe(true)
  })
})
