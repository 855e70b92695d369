/* Answers in the documented format of each provider, for one recording of 4.5 seconds with two speakers. */

export const said = 'Hello there. Good morning to you.'

/** The segments that every transcript must have. */
export const saidSegments = [
  { start: 0, end: 1, text: 'Hello there.' },
  { start: 1.5, end: 4, text: 'Good morning to you.' },
]

const spoken = [
  ['Hello', 0, 0.5],
  ['there.', 0.5, 1],
  ['Good', 1.5, 2],
  ['morning', 2, 3],
  ['to', 3, 3.25],
  ['you.', 3.25, 4],
] as const

const speakerOf = (start: number): number => (start < 1.5 ? 0 : 1)

export const whisperAnswer = {
  task: 'transcribe',
  language: 'english',
  duration: 4.5,
  text: said,
  segments: saidSegments.map((segment, id) => ({
    id,
    seek: 0,
    ...segment,
    tokens: [1],
    temperature: 0,
    avg_logprob: -0.2,
  })),
  usage: { type: 'duration', seconds: 5 },
}

export const diarizedAnswer = {
  task: 'transcribe',
  duration: 4.5,
  text: said,
  segments: saidSegments.map((segment, at) => ({
    type: 'transcript.text.segment',
    id: `seg_${at}`,
    ...segment,
    speaker: at === 0 ? 'A' : 'B',
  })),
  usage: { type: 'tokens', input_tokens: 45, output_tokens: 12, total_tokens: 57 },
}

export const elevenLabsAnswer = {
  language_code: 'eng',
  language_probability: 0.98,
  text: said,
  audio_duration_secs: 4.5,
  words: spoken.flatMap(([text, start, end]) => [
    { text, start, end, type: 'word', speaker_id: `speaker_${speakerOf(start)}`, logprob: -0.1 },
    { text: ' ', start: end, end, type: 'spacing', speaker_id: `speaker_${speakerOf(start)}` },
  ]),
}

export const deepgramAnswer = {
  metadata: { request_id: 'a', duration: 4.5, channels: 1, models: ['m'] },
  results: {
    channels: [
      {
        detected_language: 'en',
        alternatives: [
          {
            transcript: said,
            confidence: 0.99,
            words: spoken.map(([word, start, end]) => ({
              word: word.toLowerCase().replace('.', ''),
              punctuated_word: word,
              start,
              end,
              confidence: 0.99,
              speaker: speakerOf(start),
            })),
          },
        ],
      },
    ],
    utterances: saidSegments.map(({ start, end, text }) => ({
      start,
      end,
      transcript: text,
      confidence: 0.99,
      channel: 0,
      speaker: speakerOf(start),
      id: 'u',
    })),
  },
}

export const geminiTranscript = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          {
            text: JSON.stringify({
              language: 'en',
              segments: saidSegments.map((segment) => ({ ...segment, speaker: `speaker_${speakerOf(segment.start)}` })),
            }),
          },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: {
    promptTokenCount: 184,
    candidatesTokenCount: 60,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 40 },
      { modality: 'AUDIO', tokenCount: 144 },
    ],
  },
}

export const cartesiaAnswer = {
  type: 'transcript',
  request_id: 'r',
  text: said,
  duration: 4.5,
  language: 'en',
  words: spoken.map(([word, start, end]) => ({ word, start, end })),
}

export const spitchAnswer = {
  request_id: 'r',
  text: said,
  timestamps: saidSegments,
}

/** Samples of a tone in the format of Gemini. */
export const samples = Buffer.from(new Int16Array(2400).map((_, i) => Math.round(9000 * Math.sin(i / 9))).buffer)

/** An answer of Gemini with these samples. @param last whether it has a finish reason */
export const geminiAudio = (pcm: Buffer, last = true) => ({
  candidates: [
    {
      content: {
        role: 'model',
        parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: pcm.toString('base64') } }],
      },
      ...(last && { finishReason: 'STOP' }),
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 25, totalTokenCount: 32 },
})

/** Documents in a stream of Gemini. */
export const serverSent = (...documents: readonly object[]): string =>
  documents.map((document) => `data: ${JSON.stringify(document)}\r\n\r\n`).join('')
