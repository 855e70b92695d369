import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errors } from '#specs/errors/errors.ts'
import { webhookEventTypes } from '#specs/events/webhook-events.ts'

/** The code of the server without comments. A name that it does not contain cannot occur. */
const code = readdirSync('src', { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  .join('\n')
  .replace(/\/\*[\s\S]*?\*\//g, '')
  .replace(/^\s*\/\/.*$/gm, '')

const isNamed = (word: string): boolean => code.includes(`'${word}'`)

/** Whether the code inserts the last part of the event type, as in `tenant.${what}`. */
const isPutTogether = (type: string): boolean => {
  const dot = type.lastIndexOf('.')
  return code.includes(`\`${type.slice(0, dot)}.\${`) && isNamed(type.slice(dot + 1))
}

describe('the declarations of the API', () => {
  it.each(Object.keys(errors))('have the error %s, which the code uses', (name) => {
    expect(isNamed(name)).toBe(true)
  })

  it.each(webhookEventTypes)('have the webhook event %s, which the code sends', (type) => {
    expect(isNamed(type) || isPutTogether(type)).toBe(true)
  })
})
