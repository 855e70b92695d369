import { useEffect, useRef, useState } from 'react'
import type { Message, MessagePart, Session } from '../../client/src/index.ts'
import type { ImageUrls } from './image-url.ts'

/** Reads images of a session once each, with its credential, and shows their addresses, which end with it. */
const readerOf = (session: Session, show: (urls: ImageUrls) => void) => {
  const urls = new Map<string, string>()
  const begun = new Set<string>()
  let isOver = false
  const read = async (id: string): Promise<void> => {
    begun.add(id)
    const image = await session.image(id)
    if (isOver) return
    urls.set(id, URL.createObjectURL(image))
    show(new Map(urls))
  }
  return {
    read: (ids: readonly string[]) => {
      for (const id of ids) if (!begun.has(id)) read(id).catch(() => begun.delete(id))
    },
    end: () => {
      isOver = true
      for (const url of urls.values()) URL.revokeObjectURL(url)
      show(new Map())
    },
  }
}

/** Returns the addresses of the stored images among some parts, for as long as the component is shown. */
export const useImageUrls = (session: Session, parts: readonly MessagePart[]): ImageUrls => {
  const [urls, show] = useState<ImageUrls>(new Map())
  const reader = useRef<ReturnType<typeof readerOf> | null>(null)
  const ids = parts.flatMap((part) => (part.type === 'image' && part.image_id ? part.image_id : [])).join()
  useEffect(() => {
    reader.current = readerOf(session, show)
    return reader.current.end
  }, [session])
  useEffect(() => reader.current?.read(ids ? ids.split(',') : []), [session, ids])
  return urls
}

/** The parts of all messages. */
export const partsOf = (messages: readonly Message[]): readonly MessagePart[] => messages.flatMap(({ parts }) => parts)
