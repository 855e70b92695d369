import { describe, expect, it } from 'vitest'
import { MessageFold } from '#actors/sessions/messages/message-fold.ts'
import { agUiMessagesOf } from '#actors/sessions/protocols/ag-ui-messages.ts'
import { agUiRequest } from '#actors/sessions/protocols/ag-ui-request.ts'
import { inPlace, placedImage, placedInput, placedText, turnInputOf } from '#actors/sessions/protocols/placed-input.ts'
import { uiRequest } from '#actors/sessions/protocols/ui-request.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Json } from '#storage/ports.ts'

const image = (image_url: string) => ({ type: 'input_image', image_url })
const text = (given: string) => ({ type: 'input_text', text: given })

describe('a message of AG-UI', () => {
  const of = (...contents: readonly Json[]) => {
    const messages = contents.map((content, at) => ({ id: `m${at}`, role: 'user' as const, content }))
    const { input } = agUiRequest({ threadId: 't', runId: 'r', messages })
    return input === null ? null : turnInputOf(input)
  }
  const source = (type: string, value: string, mimeType?: string) => ({
    type: 'image',
    source: { type, value, ...(mimeType !== undefined && { mimeType }) },
  })

  it('gives its texts and images in their order, and a text alone as text', () => {
    const parts = [
      { type: 'text', text: 'What ' },
      { type: 'text', text: 'is this?' },
      source('data', 'iVBO', 'image/png'),
      source('url', 'https://example.com/a.png'),
      source('file', 'file_1'),
      { type: 'binary', mimeType: 'image/gif', data: 'R0lG' },
    ]
    expect(of('Look:', parts)).toEqual([
      text('Look:'),
      text('What is this?'),
      image('data:image/png;base64,iVBO'),
      image('https://example.com/a.png'),
      { type: 'input_image', file_id: 'file_1' },
      image('data:image/gif;base64,R0lG'),
    ])
    expect(of('Look:', parts.slice(0, 2))).toBe('Look:\n\nWhat is this?')
  })

  it('leaves an image that the session has in its turn, when a page gives it back', () => {
    const stored = source('file', 'img_1', 'image/png')
    expect(of([stored])).toBeNull()
    expect(of([stored], 'And now?')).toBe('And now?')
    expect(of([stored, source('file', 'file_1')])).toEqual([{ type: 'input_image', file_id: 'file_1' }])
  })

  it('has no empty text beside its images', () => {
    expect(of([{ type: 'text', text: '' }, source('url', 'https://example.com/a.png')])).toEqual([
      image('https://example.com/a.png'),
    ])
  })

  it.each([
    { type: 'document', source: { type: 'data', value: 'JVBE', mimeType: 'application/pdf' } },
    { type: 'image', source: { type: 'data', value: 'JVBE', mimeType: 'application/pdf' } },
    { type: 'binary', mimeType: 'audio/wav', data: 'UklG' },
    { type: 'text' },
    'text',
  ])('is refused with the place of a part that a turn does not take: %j', (part) => {
    expect(() => of([{ type: 'text', text: 'This?' }, part])).toThrow(
      expect.objectContaining({
        code: 'invalid_field',
        details: expect.objectContaining({ param: 'messages[0].content[1]' }),
      }),
    )
  })

  it('shows the images of the session by reference', () => {
    const fold = new MessageFold('page', 10_000)
    const stored = { type: 'input_image', image_id: 'img_1', mime_type: 'image/png', bytes: 9 }
    const input = [text('These?'), stored, image('https://example.com/a.png')]
    const payload = { input_text: 'These?', input }
    fold.take({ sequence: 1, turn_number: 1, event_type: 'turn.started', payload })
    expect(agUiMessagesOf(fold.page(false))[0]).toEqual({
      ...{ id: 'msg_1_user', role: 'user' },
      content: [
        { type: 'text', text: 'These?' },
        { type: 'image', source: { type: 'file', value: 'img_1', mimeType: 'image/png' } },
        { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } },
      ],
    })
  })
})

describe('a message of the AI SDK', () => {
  const of = (...parts: Parameters<typeof uiRequest>[0]['messages'][number]['parts']) => {
    const request = uiRequest({ trigger: 'submit-message', messages: [{ id: 'm1', role: 'user', parts }] })
    return request.kind === 'input' ? turnInputOf(request.input) : null
  }

  it('gives its texts and images, and is refused with the place of another file', () => {
    const url = 'data:image/png;base64,iVBO'
    const shown = { type: 'file', mediaType: 'image/png', url }
    expect(of({ type: 'text', text: 'This?' }, shown)).toEqual([text('This?'), image(url)])
    expect(of(shown)).toEqual([image(url)])
    expect(() =>
      of(shown, { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,JVBE' }),
    ).toThrow(
      expect.objectContaining({
        code: 'invalid_field',
        details: expect.objectContaining({ param: 'messages[0].parts[1]' }),
      }),
    )
  })
})

it('an error about a part of the input names its place in the request', () => {
  const input = placedInput([
    [placedText('This?', 'messages[2].content')],
    [placedImage('image/png', 'data:image/png;base64,iVBO', 'messages[3].content[0]')],
  ])
  const param = 'input[1].image_url'
  const error = new ServiceError('image_too_large', { param, message: `${param} has 9 bytes.` })
  expect(() => inPlace(input)(error)).toThrow(
    expect.objectContaining({
      ...{ code: 'image_too_large', message: 'messages[3].content[0] has 9 bytes.' },
      details: expect.objectContaining({ param: 'messages[3].content[0]' }),
    }),
  )
  const other = new ServiceError('body_too_large', { param: 'input' })
  expect(() => inPlace(input)(other)).toThrow(other)
})
