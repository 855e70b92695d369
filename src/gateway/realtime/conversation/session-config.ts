import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/** How the end of speech is detected. */
export interface TurnDetection {
  readonly threshold: number
  readonly prefixMs: number
  readonly silenceMs: number
  /** Whether the end of speech requests a response, and its beginning cancels one. */
  readonly responds: boolean
  readonly interrupts: boolean
}

const format = { type: 'audio/pcm', rate: 24_000 }

const detection = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  create_response: true,
  interrupt_response: true,
}

/** The configuration of a session that this server runs itself, in the form of the protocol. */
export class SessionConfig {
  readonly fields: WireObject

  constructor(fields: WireObject) {
    this.fields = fields
  }

  /** The configuration after an update, which has been validated as far as it is declared. @throws {ServiceError} */
  with(update: WireObject): SessionConfig {
    const { type, model: _, audio, prompt, ...rest } = update
    if (type === 'transcription')
      throw invalidField('session.type', 'This model has no sessions for transcripts alone.')
    if (prompt !== undefined && prompt !== null)
      throw invalidField('session.prompt', 'Stored prompts are for /v1/responses. Send instructions.')
    const before = objectOf(this.fields.audio)
    const given = objectOf(audio)
    const input = { ...objectOf(before.input), ...objectOf(given.input) }
    const output = { ...objectOf(before.output), ...objectOf(given.output) }
    checkFormat(input.format, 'session.audio.input.format')
    checkFormat(output.format, 'session.audio.output.format')
    for (const [at, tool] of arrayOf(rest.tools).entries()) checkTool(tool, `session.tools[${at}]`)
    return new SessionConfig({ ...this.fields, ...rest, audio: { input, output } })
  }

  get instructions(): string {
    return textOf(this.fields.instructions)
  }

  get speaks(): boolean {
    return arrayOf(this.fields.output_modalities)[0] !== 'text'
  }

  /** null: the client commits audio and requests responses itself. */
  get turnDetection(): TurnDetection | null {
    const { turn_detection: given } = objectOf(objectOf(this.fields.audio).input)
    if (!isObject(given)) return null
    const fields: WireObject = { ...detection, ...given }
    return {
      threshold: Number(fields.threshold),
      prefixMs: Number(fields.prefix_padding_ms),
      silenceMs: Number(fields.silence_duration_ms),
      responds: fields.create_response !== false,
      interrupts: fields.interrupt_response !== false,
    }
  }

  /** Model, language and prompt for the transcription of audio. */
  get transcription(): WireObject {
    return objectOf(objectOf(objectOf(this.fields.audio).input).transcription)
  }

  get voice(): { readonly model: string | null; readonly voice: string | null; readonly speed: number | null } {
    const { model, voice, speed } = objectOf(objectOf(this.fields.audio).output)
    return {
      model: textOf(model) || null,
      voice: textOf(voice) || textOf(objectOf(voice).id) || null,
      speed: typeof speed === 'number' && speed !== 1 ? speed : null,
    }
  }

  /** The functions in the form of chat completions. */
  get tools(): readonly WireObject[] {
    return arrayOf(this.fields.tools).map((tool) => {
      const { name, description, parameters } = objectOf(tool)
      const described = textOf(description)
      return {
        type: 'function',
        function: {
          name,
          ...(described !== '' && { description: described }),
          ...(isObject(parameters) && { parameters }),
        },
      }
    })
  }

  get toolChoice(): unknown {
    const { tool_choice: choice } = this.fields
    return isObject(choice) && choice.type === 'function'
      ? { type: 'function', function: { name: choice.name } }
      : choice
  }

  get maxTokens(): number | null {
    const { max_output_tokens: max } = this.fields
    return typeof max === 'number' ? max : null
  }
}

/** The configuration of a session before any update. */
export const usualConfig = new SessionConfig({
  output_modalities: ['audio'],
  instructions: '',
  tools: [],
  tool_choice: 'auto',
  max_output_tokens: 'inf',
  audio: { input: { format, turn_detection: detection, transcription: null }, output: { format } },
})

const checkFormat = (given: unknown, param: string): void => {
  const { type, rate = format.rate } = objectOf(given)
  if (type === format.type && rate === format.rate) return
  throw invalidField(param, `${param} must be audio/pcm at 24000 Hz for this model.`)
}

const checkTool = (tool: unknown, param: string): void => {
  const { type, name } = objectOf(tool)
  if (type !== 'function')
    throw invalidField(
      `${param}.type`,
      'Only functions are supported for this model. Tools of the server belong to an agent.',
    )
  if (!/^[\w-]{1,64}$/.test(textOf(name))) throw new ServiceError('invalid_field', { param: `${param}.name` })
}
