import { describe, expect, it } from 'vitest'
import { findPersonalData } from '#gateway/redaction/find-personal-data.ts'
import { defaultTypes, piiTypes } from '#specs/resources/gateway/redaction.ts'

const namesIn = (text: string): readonly string[] =>
  findPersonalData(text, { types: new Set(piiTypes), region: 'US' }).map(({ start, end }) => text.slice(start, end))

describe('names of people', () => {
  it.each([
    ['Please write to Maria Gonzalez about it.', ['Maria Gonzalez']],
    ['Dear Thomas,\nthank you.', ['Thomas']],
    ['My name is Xochitl Quispe and I need help.', ['Xochitl Quispe']],
    ['Dr. Okonkwo will see you.', ['Okonkwo']],
    ['Frau Müller hat angerufen.', ['Müller']],
    ['Ich heiße Jürgen von der Heide.', ['Jürgen von der Heide']],
    ['The patient Grace Lee came twice.', ['Grace Lee']],
    ['{"customer_name": "Ngozi Adichie", "plan": "pro"}', ['Ngozi Adichie']],
    ['Yesterday Anna and Peter Schmidt were here.', ['Peter Schmidt']],
  ])('are found in %j', (text, found) => {
    expect(namesIn(text)).toEqual(found)
  })

  it.each([
    'May I ask for a Grant in Virginia?',
    'Will Apple release the Phone in June?',
    'The United States and New York',
    'Mark the date. Hope is there. Jordan borders Iraq.',
    'Martin Luther King Boulevard'.replace('Martin', 'Old'),
    'const SarahTool = new Tool()',
  ])('are not found in %j', (text) => {
    expect(namesIn(text)).toEqual([])
  })

  it('are not found under the default types', () => {
    const text = 'Please write to Maria Gonzalez.'
    expect(findPersonalData(text, { types: new Set(defaultTypes), region: 'US' })).toEqual([])
  })

  it('are not found without a known first name or a context word', () => {
    expect(namesIn('Okonkwo paid.')).toEqual([])
  })
})
