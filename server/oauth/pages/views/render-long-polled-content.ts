import { html, type Html } from '../../../http/response/html-template.ts';
import type { PageSettings } from './page-layout-and-form-fields.ts';

/**
 * Renders an element that the page script replaces when its content changes on the server.
 * @param livePath path of the page, with a query that makes the server wait for a change
 */
export const renderLongPolledContent = ({ base }: PageSettings, livePath: string, content: Html): Html =>
  html`<div data-live="${base}${livePath}" aria-live="polite">${content}</div>`;
