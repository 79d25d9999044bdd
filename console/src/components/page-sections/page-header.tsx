import { useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { Icon } from '../icon.tsx';
import classes from './page-header.module.css';

type Props = {
  readonly title: string;
  /** Element beside the title, such as a status. */
  readonly status?: ReactNode;
  /** Line below the title. */
  readonly about?: ReactNode;
  /** Link to the list that the page belongs to. */
  readonly parent?: { readonly to: string; readonly name: string };
  /** Buttons for the actions of the page. */
  readonly actions?: ReactNode;
};

/** Title and actions of a page. Sets the window title and moves the focus, so that screen readers announce the new page. */
export function PageHeader({ title, status, about, parent, actions }: Props): ReactNode {
  const t = useCommonTranslations();
  const heading = useFocusAfterNavigation();
  useEffect(() => {
    document.title = `${title} – ${t('title')}`;
  }, [title, t]);
  return (
    <div className={classes['header']}>
      {parent && (
        <Link className={classes['parent']} to={parent.to}>
          <Icon name="back" size={16} />
          {parent.name}
        </Link>
      )}
      <div className={classes['row']}>
        <div className={classes['title']}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {status}
        </div>
        {about !== undefined && <div className={classes['about']}>{about}</div>}
        {actions !== undefined && <div className={classes['actions']}>{actions}</div>}
      </div>
    </div>
  );
}

function useFocusAfterNavigation() {
  const heading = useRef<HTMLHeadingElement>(null);
  const { key } = useLocation();
  useEffect(() => {
    // The first page of a visit, which has the key `default`, needs no focus, because screen readers announce every newly loaded document.
    if (key !== 'default') heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}
