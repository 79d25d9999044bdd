type CopiedPackage = {
  /** Folder of the package that is copied. */
  readonly from: string;
  /** Folder of the workspace's `dist` that it is copied to. */
  readonly to: string;
};

/**
 * Dependencies of which the published package contains files instead of depending on them, by workspace and package name, because their own
 * dependencies are large and unused.
 */
export const copiedPackages: Readonly<Record<string, Readonly<Record<string, CopiedPackage>>>> = {
  server: { '@scalar/api-reference': { from: 'dist/browser', to: 'docs/scalar' } },
};
