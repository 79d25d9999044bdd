import { type NavigateOptions, useNavigate } from 'react-router';

/**
 * Returns a function that sets a filter in the URL, or removes the filter if the value is empty, and shows the first page of the list. The
 * function reads the URL of the window, because React may not have rendered the previous change yet.
 */
export function useSetUrlFilterAndResetPage(): (name: string, value: string, options?: NavigateOptions) => void {
  const navigate = useNavigate();
  return (name, value, options) => {
    const next = new URLSearchParams(window.location.search);
    next.delete('cursor');
    if (value === '') next.delete(name);
    else next.set(name, value);
    void navigate(`?${next.toString()}`, options);
  };
}
