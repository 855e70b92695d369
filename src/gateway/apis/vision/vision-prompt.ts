/** The task for the images of a request. */
export type Task = 'analyze' | 'describe' | 'ocr' | 'classify'

const promptsByTask: Readonly<Record<Task, (several: boolean) => string>> = {
  analyze: (several) => (several ? 'What is in these images?' : 'What is in this image?'),
  describe: (several) =>
    several
      ? 'Describe these images in detail, one after another: what they show, where, in which light and style. If they belong together, say how.'
      : 'Describe this image in detail: what it shows, where, in which light and style.',
  ocr: (several) =>
    `Give all text in ${several ? 'these images, one after another' : 'this image'}, word for word and in the order in which it is read. Keep line breaks. Answer with the text alone; with nothing where there is none.`,
  classify: (several) =>
    `Classify ${several ? 'these images together' : 'this image'}. Answer with one JSON object and nothing else: {"tags": [short words for what is seen], "categories": [broad subjects, the best first], "objects": [things that can be made out]}, all of them lists of strings.`,
}

/** Returns the prompt for the model. `prompt` applies only to `analyze`; the other tasks have fixed prompts. */
export const promptFor = (task: Task, prompt: string | null, several: boolean): string =>
  task === 'analyze' && prompt !== null && prompt.trim() !== '' ? prompt : promptsByTask[task](several)

/** Providers accept JSON as the response format only when the prompt contains the word. */
export const jsonInstruction = 'Answer with one JSON object and nothing else.'
