import { createElement, type ReactNode, useId } from 'react'
import type { RequiredInput } from '../../client/src/index.ts'

type Values = Readonly<Record<string, unknown>>

/** What a tool's server requests, and what is done with the answer. */
export interface InputFormProps {
  readonly input: RequiredInput
  readonly disabled: boolean
  readonly answerLabel: ReactNode
  /** Shown at a field that appears to be for a secret. */
  readonly secretLabel: string
  readonly answer: (content: Values) => void
  /** Further controls. */
  readonly children?: ReactNode
}

/** A value that a person enters. */
interface Field {
  readonly name: string
  readonly schema: Values
  /** Values to choose from, with their titles; null where any may be entered. */
  readonly choices: readonly (readonly [value: string, title: string])[] | null
  readonly isRequired: boolean
}

/** A form with a labelled field for each value, or with one for JSON where the schema is not a flat one. */
export const InputForm = ({
  input,
  disabled,
  answerLabel,
  secretLabel,
  answer,
  children,
}: InputFormProps): ReactNode => {
  const id = useId()
  const fields = fieldsOf(input.schema)
  const onSubmit = (event: { preventDefault(): void; readonly currentTarget: object }) => {
    event.preventDefault()
    const entered = enteredIn(event.currentTarget)
    answer(fields ? valuesOf(fields, entered) : JSON.parse(`${entered.getAll(jsonName)}`))
  }
  const labelled = (name: string, { title, description = '' }: Values, control: Control) => {
    const [tag, attributes, choices] = control
    const hint = `${description} ${input.secret_fields.includes(name) ? secretLabel : ''}`.trim()
    const described = { name, 'aria-describedby': hint ? id + name : undefined, ...attributes }
    const options = choices.map(([value, text]) => createElement('option', { value }, text))
    return createElement(
      'div',
      null,
      createElement('label', null, `${title || name} `, createElement(tag, described, ...options)),
      hint && createElement('small', { id: id + name }, hint),
    )
  }
  const shown = fields
    ? fields.map((field) => labelled(field.name, field.schema, controlOf(field)))
    : [labelled(jsonName, { title: 'JSON', description: JSON.stringify(input.schema) }, jsonControl)]
  return createElement(
    'form',
    { onSubmit },
    createElement(
      'fieldset',
      { disabled },
      createElement('legend', null, `${input.server}: ${input.message}`),
      ...shown,
      createElement('button', { type: 'submit' }, answerLabel),
      children,
    ),
  )
}

const valuesIn = (value: unknown): Values => Object(value)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isNumber = ({ type }: Values): boolean => type === 'number' || type === 'integer'

/** The fields of a flat schema; null for any other. */
const fieldsOf = (form: unknown): readonly Field[] | null => {
  const { properties, required } = valuesIn(form)
  const fields = Object.entries(valuesIn(properties)).map(([name, value]) => {
    const schema = valuesIn(value)
    const choices = choicesOf(schema.type === 'array' ? valuesIn(schema.items) : schema)
    return { name, schema, choices, isRequired: listOf(required).includes(name) }
  })
  const isFlat = ({ schema, choices }: Field) =>
    choices !== null || isNumber(schema) || schema.type === 'string' || schema.type === 'boolean'
  return properties && fields.every(isFlat) ? fields : null
}

const choicesOf = ({ enum: plain, oneOf: titled }: Values): Field['choices'] => {
  const named = listOf(titled).map((each) => {
    const { const: value, title = value } = valuesIn(each)
    return [`${value}`, `${title}`] as const
  })
  const choices = [...named, ...listOf(plain).map((value) => [`${value}`, `${value}`] as const)]
  return choices.length ? choices : null
}

/** An element, and the choices in it. */
type Control = readonly [tag: string, attributes: object, choices: readonly (readonly [value: string, title: string])[]]

const controlOf = ({ schema, choices, isRequired }: Field): Control => {
  const { type, format, default: initial, minimum: min, maximum: max, minLength, maxLength } = schema
  if (type === 'boolean') return ['input', { type: 'checkbox', defaultChecked: initial === true }, []]
  // a number that is emptied would be its default again
  const required = isRequired || (isNumber(schema) && initial !== undefined)
  const common = { required, defaultValue: initial }
  if (type === 'array') return ['select', { ...common, multiple: true }, choices ?? []]
  if (choices) return ['select', common, initial === undefined ? [['', ''], ...choices] : choices]
  if (isNumber(schema))
    return ['input', { ...common, type: 'number', min, max, step: type === 'number' ? 'any' : 1 }, []]
  return ['input', { ...common, type: inputTypes[`${format}`], minLength, maxLength }, []]
}

/** Types of text fields by the format of the text. */
const inputTypes: Readonly<Record<string, string>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
}

/** What is entered in a form, by the names of its fields. */
interface Entered {
  has(name: string): boolean
  getAll(name: string): readonly unknown[]
}

/** The `FormData` of browsers: that of servers, whose types this code has, is made of no form. */
const enteredIn = (form: object): Entered => new (Object(FormData))(form)

const valuesOf = (fields: readonly Field[], entered: Entered): Values => {
  const values = fields.map(({ name, schema }): readonly [string, unknown] => {
    const { type, format, default: initial } = schema
    if (type === 'boolean') return [name, entered.has(name)]
    const [text, ...more] = entered.getAll(name).map(String)
    if (type === 'array') return [name, text === undefined ? text : [text, ...more]]
    // an emptied text replaces its default
    if (!text) return [name, initial === undefined || format ? undefined : text]
    return [name, isNumber(schema) ? Number(text) : format === 'date-time' ? new Date(text).toISOString() : text]
  })
  return Object.fromEntries(values)
}

const jsonName = 'json'

const isObjectText = (text: string): boolean => {
  try {
    return /^\s*\{/.test(text) && Boolean(JSON.parse(text))
  } catch {
    return false
  }
}

interface TextArea {
  readonly value: string
  setCustomValidity(refusal: string): void
}

const jsonControl: Control = [
  'textarea',
  {
    required: true,
    onInput: ({ currentTarget: area }: { readonly currentTarget: TextArea }) =>
      area.setCustomValidity(isObjectText(area.value) ? '' : 'JSON: { … }'),
  },
  [],
]
