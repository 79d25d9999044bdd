import { ApiError, type ResponseWithData } from '@mandate/client-sdk';
import { useState } from 'react';

/** A resource with the ETag of its version. */
export type Versioned<Data> = { readonly data: Data; readonly etag: string };

/** Returns the resource in a response with its ETag. */
export async function readVersioned<Data>(call: { withResponse(): Promise<ResponseWithData<Data>> }): Promise<Versioned<Data>> {
  const { data, headers } = await call.withResponse();
  return { data, etag: headers.get('etag') ?? '*' };
}

type EditConflict<Data> = {
  /** ETag of the version that the user has seen. Send it in `If-Match`. */
  readonly etag: string;
  /** The saved resource, if someone else has changed it since the user opened the form. */
  readonly theirs: Data | undefined;
  /** Loads the saved resource if `error` is a conflict. Pass this function to `mutate` as `onError`. */
  readonly onError: (error: unknown) => Promise<void>;
};

/** Detects that someone else has changed the resource of a form. After the user has seen the difference, `etag` permits to overwrite it. */
export function useEditConflict<Data>(opened: Versioned<Data>, load: () => Promise<Versioned<Data>>): EditConflict<Data> {
  const [etag, setEtag] = useState(opened.etag);
  const [theirs, setTheirs] = useState<Data>();
  return {
    etag,
    theirs,
    async onError(error) {
      if (!(error instanceof ApiError) || error.code !== 'precondition_failed') return;
      const latest = await load();
      setEtag(latest.etag);
      setTheirs(latest.data);
    },
  };
}
